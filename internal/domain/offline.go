package domain

// Offline is the vocabulary of the rule-based model: what it knows about the domain besides the catalog, so that its
// code knows no domain. The model brings the grammar, the domain its words. Words are lower case and singular; phrases
// are matched before single words.
type Offline struct {
	// Units maps words for a unit to the unit that is written: litre -> l.
	Units map[string]string `yaml:"units"`
	// Values are words that stand for a column's value, in addition to its closed list: "refrigerator" is inv.location
	// = fridge.
	Values []OfflineValue `yaml:"values"`
	// Defaults are the values of a new row that the message leaves open, by entity type.
	Defaults map[string]map[string]any `yaml:"defaults"`
	// Facts are statements about oneself that change a singleton row.
	Facts []OfflineFact `yaml:"facts"`
	// Families are what an exclusion rules out: the word and every word it covers ("fish": cod, salmon).
	Families map[string][]string `yaml:"families"`
	// Draft is how a row with children is drafted; nil if nothing can be.
	Draft *OfflineDraft `yaml:"draft"`
	// Plan is how dated rows that reference drafts or rows are drafted; or nil.
	Plan *OfflinePlan `yaml:"plan"`
}

// OfflineValue is words that stand for a column's value. If no value is given, each stands for itself; without a
// column, they only indicate the entity type.
type OfflineValue struct {
	Words  []string `yaml:"words"`
	Type   string   `yaml:"type"`
	Column string   `yaml:"column"`
	Value  any      `yaml:"value"`
}

// OfflineFact adds what follows the words to a list column of a singleton, or sets Value if given: "allergic to
// peanuts" adds peanuts to allergies.
type OfflineFact struct {
	Words  []string `yaml:"words"`
	Type   string   `yaml:"type"`
	Column string   `yaml:"column"`
	Value  string   `yaml:"value"`
}

// OfflineDraft drafts a row with children from templates. In all texts of a template, {slot} stands for the slot's
// word, {Slot} for that word in title case, and {title} for the user's own words in title case.
type OfflineDraft struct {
	Type string `yaml:"type"`
	// Title is the name's column, Steps the list column of the method, and Child the child's table, whose Item is the
	// column of an item's name.
	Title string `yaml:"title"`
	Steps string `yaml:"steps"`
	Child string `yaml:"child"`
	Item  string `yaml:"item"`
	// Serves is the number column that the children's amounts scale with, or "".
	Serves string `yaml:"serves"`
	// Slots are the words that a template leaves open, with defaults for messages that name none.
	Slots map[string]OfflineSlot `yaml:"slots"`
	// Templates: the one with the longest phrase in the message wins; else the first without words, if the message names
	// what fills a slot; else the last.
	Templates []OfflineTemplate `yaml:"templates"`
	// Changes turn a draft into another by replacing words throughout it.
	Changes []OfflineChange `yaml:"changes"`
}

// OfflineSlot is an open word of a template.
type OfflineSlot struct {
	Words   []string `yaml:"words"`
	Default string   `yaml:"default"`
}

// OfflineTemplate is a row and its children with slots. Content is as in an artifact: the table's columns, with the
// children under their table's name.
type OfflineTemplate struct {
	Words   []string          `yaml:"words"`
	Slots   map[string]string `yaml:"slots"` // defaults of this template
	Content map[string]any    `yaml:"content"`
}

// OfflineChange replaces words in every text of a draft (the first rule whose From contains the word, longest word
// first), prefixes the title with Prefix, appends Set's values to list columns and overwrites other columns with them.
// Remove lists words whose children, but no steps, are removed.
type OfflineChange struct {
	Words   []string         `yaml:"words"`
	Prefix  string           `yaml:"prefix"`
	Replace []OfflineReplace `yaml:"replace"`
	Remove  []string         `yaml:"remove"`
	Set     map[string]any   `yaml:"set"`
}

// OfflineReplace is words and their replacement.
type OfflineReplace struct {
	From []string `yaml:"from"`
	To   string   `yaml:"to"`
}

// OfflinePlan drafts one dated row per day, each referencing a row of another type.
type OfflinePlan struct {
	Type string `yaml:"type"`
	// Date, Slot and Link are columns: the day, the part of the day, and the reference to what is planned.
	Date string `yaml:"date"`
	Slot string `yaml:"slot"`
	Link string `yaml:"link"`
	// DefaultSlot and DefaultCount apply if the message names none.
	DefaultSlot  string `yaml:"default_slot"`
	DefaultCount int    `yaml:"default_count"`
	// Content are further columns of each row.
	Content map[string]any `yaml:"content"`
}
