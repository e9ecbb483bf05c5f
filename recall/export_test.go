package recall

// CompareUpTo lets a test do with fewer vectors than ExactUpTo.
func (s *Searcher) CompareUpTo(n int32) { s.exactUpTo = n }
