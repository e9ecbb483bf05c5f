package nodes_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/nodes"
)

// Names have other endings in a sentence, and no spaces around them in some scripts: a question or a deletion that names them so is
// not told again in English.
func TestNamesAreRecognizedAsSentencesInflectThem(t *testing.T) {
	t.Parallel()
	for names, said := range map[string]string{
		"Ekmek, Süt":            "Ekmeği ve sütü listeden silerim",
		"Сметана, Белый хлеб":   "Сметану и белый хлеб я удалю",
		"Kawa, Mąka":            "Usunę kawę i mąkę",
		"青いりんご, 牛乳":             "リストから青いりんごと牛乳を削除します",
		"全麦面包, 牛奶":              "我会把全麦面包和牛奶删掉",
		"Apfelsaft, Brühwürfel": "Ich würde den Apfelsaft und die Brühwürfel löschen",
	} {
		in := nodes.ReplyInput{Ask: "This would delete 2 shopping items: " + names + ". This can be undone. Shall I?"}
		for _, end := range []string{"?", "？", "か？", "か。"} {
			_, out := replied(t, in, said+end)
			require.Equal(t, said+end, out.Text, "asked once")
		}
		in = nodes.ReplyInput{Done: nodes.Done{Wrote: true}, Written: []nodes.Written{{Verb: "Deleted", Names: names, Gone: true}}}
		_, out := replied(t, in, said+".")
		require.Equal(t, said+".", out.Text, "told once")
	}
	in := nodes.ReplyInput{Ask: "This would delete 2 shopping items: Ekmek, 牛乳. This can be undone. Shall I?"}
	for _, said := range []string{"Süt silinsin mi?", "Ekmek silinsin mi?", "牛肉とekmekを削除しますか。"} {
		_, out := replied(t, in, said)
		require.Equal(t, said+"\n\n"+in.Ask, out.Text, "a question that names other rows is none")
	}
}
