package crud

func searchTexts(call Call) []string { return nil }
