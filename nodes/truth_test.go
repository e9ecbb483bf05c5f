package nodes_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"alfred/internal/vocab"
	"alfred/nodes"
)

func understandInput() nodes.UnderstandInput {
	known := nodes.Refs{"gen_vase_1": {Type: "vase", Pending: true}, "room_1": {Type: "room"}}
	for _, ref := range []string{"vase_1", "vase_2", "vase_3", "vase_10"} {
		known[ref] = nodes.Ref{Type: "vase"}
	}

	return nodes.UnderstandInput{Frame: frame(), Refs: known, EntityTypes: []string{"vase", "room"}}
}

func understood(t *testing.T, answer string) *nodes.UnderstandOutput {
	t.Helper()
	out, err := nodes.Understand(t.Context(), says(answer), understandInput())
	require.NoError(t, err)
	require.Empty(t, out.Degraded)

	return out
}

func TestV08QuickTakesATypeAndTheSchemaListsTheTypes(t *testing.T) {
	t.Parallel()
	m := says(`{"intent":"read","quick":{"entity_type":"Vase","why":"a list"}}`)
	out, err := nodes.Understand(t.Context(), m, understandInput())
	require.NoError(t, err)
	require.Equal(t, "vase", out.Quick.EntityType)
	require.Contains(t, string(m.requests[0].Schema), `"enum":["vase","room"]`)
}

func TestV09RangesOfRefsAreExpanded(t *testing.T) {
	t.Parallel()
	out := understood(t, `{"intent":"chat","curation":{"demote":["vase_1..vase_10"],"retain":[{"ref":"vase_2..3","reason":"kept"}],"exclude":[]}}`)
	require.Equal(t, []string{"vase_1", "vase_2", "vase_3", "vase_10"}, out.Curation.Demote)
	require.Len(t, out.Curation.Retain, 2)

	plan, err := nodes.Think(t.Context(), says(`{"goal":"g","steps":[{"type":"read","subdomain":"vases","description":"look","refs":["vase_1..vase_1"]}]}`), thinkInput())
	require.NoError(t, err)
	require.Equal(t, []string{"vase_1"}, plan.Steps[0].Refs)
}

// A type's name may hold digits.
func TestRangesOfTypesWithDigits(t *testing.T) {
	t.Parallel()
	in := nodes.UnderstandInput{Frame: frame(), Refs: nodes.Refs{"mp3_1": {Type: "mp3"}, "mp3_2": {Type: "mp3"}}, EntityTypes: []string{"mp3"}}
	out, err := nodes.Understand(t.Context(), says(`{"intent":"chat","curation":{"demote":["mp3_1..mp3_2"]}}`), in)
	require.NoError(t, err)
	require.Equal(t, []string{"mp3_1", "mp3_2"}, out.Curation.Demote)
}

// Prompts list many rows as a range; a mention of it cost a call to write each of them out.
func TestAMentionOfARangeIsOneOfEach(t *testing.T) {
	t.Parallel()
	out := understood(t, `{"mentions":[{"text":"all three","ref":"vase_1..vase_3","resolution":"exact"},{"text":"here","ref":"","resolution":"unknown"}],"intent":"read"}`)
	require.Equal(t, []nodes.Mention{
		{Text: "all three", Ref: "vase_1", Resolution: "exact"}, {Text: "all three", Ref: "vase_2", Resolution: "exact"},
		{Text: "all three", Ref: "vase_3", Resolution: "exact"}, {Text: "here", Resolution: "unknown"},
	}, out.Mentions)
}

// What a model got wrong and did not mend asks nothing and cannot be stored, so it is left out; a constraint of an unknown
// kind still holds.
func TestUnderstand_WhatCannotBeUsedIsLeftOut(t *testing.T) {
	t.Parallel()
	for answer, constraints := range map[string][]nodes.Constraint{
		`{"intent":"read","disambiguation":{"question":" ","options":["vase_1","vase_2"]}}`:                                     nil,
		`{"intent":"chat","constraints":[{"text":" ","kind":"exclude"},{"text":"no lilies","kind":"flower","scope":"always"}]}`: {{Text: "no lilies", Kind: "other", Scope: "session"}},
	} {
		out, err := nodes.Understand(t.Context(), says(answer, answer, answer), understandInput())
		require.NoError(t, err)
		require.NotEmpty(t, out.Degraded, answer)
		require.Nil(t, out.Disambiguation)
		require.Nil(t, out.Clarification)
		require.Equal(t, constraints, out.Constraints)
	}
}

func TestV10ForgetKeepsSavedRowsThatAreToBeDeleted(t *testing.T) {
	t.Parallel()
	out := understood(t, `{"intent":"write","curation":{"forget":["vase_1","gen_vase_1"]}}`)
	require.Equal(t, []string{"gen_vase_1"}, out.Curation.Forget)
	out = understood(t, `{"intent":"chat","curation":{"drop":["vase_1"]}}`)
	require.Equal(t, []string{"vase_1"}, out.Curation.Forget, "the former word is taken")
}

func TestV11FaultsAreReportedAtOnceAndUnambiguousOnesFixed(t *testing.T) {
	t.Parallel()
	m := says(`{"intent":"maybe","mentions":[{"text":"x","ref":"vase_77","resolution":"sure"}]}`, `{}`)
	_, err := nodes.Understand(t.Context(), m, understandInput())
	require.NoError(t, err)
	told := m.requests[1].Messages[2].Content
	for _, fault := range []string{"maybe", "vase_77", "sure"} {
		require.Contains(t, told, fault)
	}
	out := understood(t, "Here you are:\n```json\n"+`{"intent":"Read","answers_question":"false","curation":{"demote":"vase_1"}}`+"\n```\nAnything else?")
	require.Equal(t, "read", out.Intent)
	require.Equal(t, []string{"vase_1"}, out.Curation.Demote)
}

func TestV34QuickIsAPlainReadOfOneTable(t *testing.T) {
	t.Parallel()
	quick := `"quick":{"entity_type":"vase","why":""}`
	require.NotNil(t, understood(t, `{"intent":"read",`+quick+`}`).Quick)
	require.Nil(t, understood(t, `{"intent":"write",`+quick+`}`).Quick)
	require.Nil(t, understood(t, `{"intent":"read","mentions":[{"text":"the hall","ref":"room_1","resolution":"exact"}],`+quick+`}`).Quick)
}

func TestV37StepsBeyondTheLimitAreLeftAndNamed(t *testing.T) {
	t.Parallel()
	step := `{"type":"read","subdomain":"vases","description":"%"}`
	long := `{"goal":"g","steps":[` + strings.Join([]string{step, step, strings.Replace(step, "%", "the third", 1)}, ",") + `]}`
	m := says(long, long, long)
	out, err := nodes.Think(t.Context(), m, thinkInput())
	require.NoError(t, err)
	require.Len(t, m.requests, 3, "the model is asked again first")
	require.Len(t, out.Steps, 2)
	require.Equal(t, "the third", out.Left[0].Description)
}

func replied(t *testing.T, in nodes.ReplyInput, texts ...string) (*scripted, *nodes.ReplyOutput) {
	t.Helper()
	m := says(texts...)
	in.Frame, in.Fallback = frame(), "Nothing was changed."
	out, err := nodes.Reply(t.Context(), m, in)
	require.NoError(t, err)

	return m, out
}

func TestV03FalseClaimsAreSentBackThenReplaced(t *testing.T) {
	t.Parallel()
	for _, claim := range []string{
		"Saved five dinners.", "I've saved your plan.", "Done! Added milk to the list.", "Your plan has been saved.", "All set, deleted both.",
		"I have now updated the recipe.", "The three rows were deleted.",
	} {
		m, out := replied(t, nodes.ReplyInput{}, claim, claim)
		require.Equal(t, "Nothing was changed.", out.Text, claim)
		require.True(t, out.Fallback)
		require.Len(t, m.requests, 2, claim)
	}
	for _, fine := range []string{
		"Nothing was saved yet.", "I have not saved it.", "Shall I save it?", "Saved recipes: Butter Chicken, Shakshuka.",
		"I could not delete it, so nothing is changed.", "You added it earlier.", "The task was created on Monday.", "Here are your saved recipes.",
		"Once you agree, it will be deleted.", "The oranges were changed by somebody else, so they stay.",
	} {
		_, out := replied(t, nodes.ReplyInput{}, fine)
		require.Equal(t, fine, out.Text)
	}
	asks := nodes.ReplyInput{Ask: "The van has been booked meanwhile. Shall I take the other one?"}
	m, out := replied(t, asks, asks.Ask)
	require.Equal(t, asks.Ask, out.Text)
	require.Len(t, m.requests, 1, "what it was told to ask is no claim of its own")
	states := nodes.ReplyInput{Done: nodes.Done{States: map[string]bool{"booked": true}}}
	_, out = replied(t, states, "Her appointment is booked.")
	require.Equal(t, "Her appointment is booked.", out.Text, "what a row says is no claim")
	_, out = replied(t, states, "I have booked it.", "All three are now saved.")
	require.True(t, out.Fallback)
	_, out = replied(t, states, "Your appointment is now booked.", "It is just booked.")
	require.True(t, out.Fallback, "what is so only now was done in this turn")
	in := nodes.ReplyInput{Fallback: "Everything was saved.\n\nDrafted, not saved yet: Curry."}
	require.Equal(t, "Drafted, not saved yet: Curry.", in.WithoutModel().Text, "what an analysis claims is no fact either")
	in.Fallback = "Everything was saved."
	require.Equal(t, "Nothing was saved, changed or deleted.", in.WithoutModel().Text)
	_, out = replied(t, nodes.ReplyInput{Done: nodes.Done{Drafted: true}}, "I've added lime to the draft; it is not saved.")
	require.False(t, out.Fallback)
	_, out = replied(t, nodes.ReplyInput{Done: nodes.Done{Drafted: true}}, "I've added lime. Saved it for you.", "Lime is in the draft.")
	require.Equal(t, "Lime is in the draft.", out.Text)
	undrafted := nodes.ReplyInput{Done: nodes.Done{Undrafted: true}}
	m, out = replied(t, undrafted, "I have drafted an offer with 15 lines. Shall I save it?", "The offer could not be drafted.")
	require.Equal(t, "The offer could not be drafted.", out.Text)
	require.Contains(t, m.requests[1].Messages[2].Content, "nothing was drafted")
	_, out = replied(t, nodes.ReplyInput{}, "I have drafted two: Curry and Soup.")
	require.False(t, out.Fallback, "in another turn")
}

func TestV04RepliesAreNotJSONAndAskTheQuestion(t *testing.T) {
	t.Parallel()
	_, out := replied(t, nodes.ReplyInput{}, `{"reply":"Here it is."}`, "Here it is.")
	require.Equal(t, "Here it is.", out.Text)
	in := nodes.ReplyInput{Ask: "Which one do you mean: Blue Vase or Blue Bowl?"}
	_, out = replied(t, in, "There are two.")
	require.Equal(t, "There are two.\n\n"+in.Ask, out.Text)
	_, out = replied(t, in, "Do you mean the Blue Vase or the Blue Bowl? Which one?")
	require.NotContains(t, out.Text, in.Ask, "asked already")
}

// A question that a model has translated is asked once: it has what is the same in any language, and asks at its end.
func TestATranslatedQuestionIsAskedOnce(t *testing.T) {
	t.Parallel()
	const deletes, changes = "This would delete 3 pantry items: Chicken thighs, Cod and Peas. Shall I?", "This would change 9 tasks (due: Mon Nov 23, 2026 10:00): Wash up, Sleep and 7 more. Shall I?"
	const adds, cancels = "This would add 2 items: milk and eggs. Shall I?", "Order #W624 would be cancelled, and 54.04 refunded. Cancel order cannot be taken back. Shall I?"
	for _, test := range []struct {
		ask, text string
		asked     bool
	}{
		{deletes, "Das löscht drei Vorräte:\n- **Chicken thighs**\n- **Cod**\n- **Peas**\n\nSoll ich?", true},
		{deletes, "冷凍庫のChicken thighs、Cod、Peasを削除しますか？", true},
		{deletes, "Das löscht 3 Vorräte: Chicken thighs und Cod. Soll ich?", false},
		{deletes, "Das löscht 3 Vorräte: Chicken thighs, Cod und Peas.", false},
		{deletes, "Soll ich die 3 Vorräte löschen?", false},
		{deletes, "Chicken thighs, Cod and Peas are in the freezer. Would you like a recipe with them?", false},
		{changes, "Das ändert 9 Aufgaben auf den 23.11.2026, 10:00 Uhr: Wash up, Sleep und 7 weitere. Soll ich?", true},
		{changes, "Das ändert die Aufgaben auf den 23.11.2026, 10:00 Uhr: Wash up, Sleep und 7 weitere. Soll ich?", false},
		{adds, "Das fügt milk und eggs hinzu. Soll ich?", true},
		{adds, "Das fügt zwei Dinge hinzu. Soll ich?", false},
		{cancels, "Die Bestellung #W624 würde unwiderruflich storniert, 54,04 würden erstattet. Soll ich?", true},
		{cancels, "Die Bestellung #W624 würde storniert, 54,04 würden erstattet. Soll ich?", false},
		{cancels, "Die Bestellung #W6247 würde unwiderruflich storniert, 54,04 würden erstattet. Soll ich?", false},
		{"Which day do you mean?", "Da gibt es mehrere. Welchen Tag meinst du?", false}, // nothing in it is the same in German
	} {
		_, out := replied(t, nodes.ReplyInput{Ask: test.ask}, test.text)
		want := test.text
		if !test.asked {
			want += "\n\n" + test.ask
		}
		require.Equal(t, want, out.Text)
	}
}

// An offer is made once: a model that asks in another language, or in its own words, is not repeated in English.
func TestV02AnOfferIsMadeOnce(t *testing.T) {
	t.Parallel()
	in := nodes.ReplyInput{Ask: "Shall I save Linsencurry and Pad See Ew?", Offer: true}
	for text, want := range map[string]struct {
		asked string
		shown bool
	}{
		"Hier sind beide. Soll ich Linsencurry und Pad See Ew speichern?":                   {"Soll ich Linsencurry und Pad See Ew speichern?", true},
		"¿Guardo Linsencurry y Pad See Ew?":                                                 {"¿Guardo Linsencurry y Pad See Ew?", true},
		"Here they are. Want me to save them?":                                              {"Want me to save them?", true},
		"Here they are. Shall I save?":                                                      {"Shall I save?", true}, // what there is to save
		"Here they are. Would you like to save Linsencurry and Pad See Ew? 🍜":               {"Would you like to save Linsencurry and Pad See Ew?", true},
		"Hier sind beide Rezepte. **Soll ich sie speichern?**":                              {"Soll ich sie speichern?", false},
		"Linsencurryとパッシーユーです。保存しますか？":                                                      {"保存しますか？", false},
		"Ορίστε οι συνταγές. Να τις αποθηκεύσω;":                                            {"Να τις αποθηκεύσω;", false},
		"هذه هي الوصفات. هل أحفظها؟ 😊":                                                      {"هل أحفظها؟", false},
		"Hier ist Linsencurry. Soll ich Pad See Ew speichern?":                              {}, // about one of the two
		"Schmeckt das? Sonst nehme ich weniger Chili.":                                      {},
		"Here they are. Would you like it spicier?":                                         {},
		"Here is the week. Shall I save the plan?":                                          {"Shall I save the plan?", false}, // asked twice, as code names its rows
		"Here they are. Shall I save the Linsencurry?":                                      {},
		"I saved nothing yet. Shall I make it hotter with the chili?":                       {},
		"Hier sind beide. Soll ich sie speichern und für Mittwoch, 2. Dezember, eintragen?": {"Soll ich sie speichern und für Mittwoch, 2. Dezember, eintragen?", false}, // a day ends no sentence
		"Here are both for Wednesday, December 2. Shall I save them?":                       {"Shall I save them?", true},
		"Hier sind beide.": {},
	} {
		asked, shown := in.QuestionIn(text)
		require.Equal(t, want.asked, asked, text)
		require.Equal(t, want.shown, shown, text)
		_, out := replied(t, in, text)
		if want.asked == "" {
			text += "\n\n" + in.Ask
		}
		require.Equal(t, text, out.Text)
	}
}

// An offer of rows that code names by their dates is recognized in the words that people use for dates.
func TestOfferOfADatedDraft(t *testing.T) {
	t.Parallel()
	in := nodes.ReplyInput{Ask: "Shall I save Mon 23 Nov dinner: Pad See Ew and Tue 24 Nov dinner: Butter Chicken?", Offer: true}
	asked, shown := in.QuestionIn("Two dinners. Shall I save Pad See Ew on Monday and Butter Chicken on Tuesday to your meal plan?")
	require.Equal(t, "Shall I save Pad See Ew on Monday and Butter Chicken on Tuesday to your meal plan?", asked)
	require.True(t, shown)
	asked, _ = in.QuestionIn("Two dinners. Shall I save Pad See Ew on Monday?")
	require.Empty(t, asked, "of one of the two")
}

// A step whose calls say everything needs no description of its own.
func TestStepIsDescribedByItsCalls(t *testing.T) {
	t.Parallel()
	in := thinkInput()
	in.Homes = map[string]nodes.Home{"vases": {Subdomain: "pots", Plural: "vases"}}
	in.Subdomains = append(in.Subdomains, "pots")
	m := says(`{"goal":"g","decision":"plan","steps":[{"type":"read","subdomain":"pots","description":"","refs":[],"needs":"refs"}],"questions":[],
		"calls":[{"step":1,"tool":"db_read","table":"vases","filters":[{"field":"colour","op":"=","value":"blue"}]}]}`)
	out, err := nodes.Think(t.Context(), m, in)
	require.NoError(t, err)
	require.Equal(t, "Read the vases with colour = blue", out.Steps[0].Description)
}

// What counts and what reads are two steps, though the plan has them in one: neither was done as it was written.
func TestCallsOfTwoKindsAreTwoSteps(t *testing.T) {
	t.Parallel()
	in := thinkInput()
	in.Homes = map[string]nodes.Home{"vases": {Subdomain: "pots", Plural: "vases"}}
	in.Subdomains = append(in.Subdomains, "pots")
	for _, kind := range []string{"read", "analyze"} {
		out, err := nodes.Think(t.Context(), says(`{"goal":"g","decision":"plan","steps":[{"type":"`+kind+`","subdomain":"pots","description":"Both.","refs":[],"needs":"refs"}],"questions":[],
			"calls":[{"step":1,"tool":"db_analyze","table":"vases","how":"count","filters":[]},{"step":1,"tool":"db_read","table":"vases","filters":[{"field":"colour","op":"=","value":"blue"}]}]}`), in)
		require.NoError(t, err)
		require.Len(t, out.Steps, 2)
		require.Equal(t, "analyze read", out.Steps[0].Type+" "+out.Steps[1].Type)
		require.Len(t, out.Steps[1].ReadyCalls(), 1)
	}
}

// A weekday that its date does not have is doubted, in the words with which a model can mend it.
func TestReplyWeekdaysAreThoseOfTheCalendar(t *testing.T) {
	t.Parallel()
	in := nodes.ReplyInput{Done: nodes.Done{Wrote: true}, Facts: func() nodes.Facts {
		return nodes.Facts{Today: time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)}
	}}
	for _, wrong := range []string{
		"It is on Tuesday, December 2nd.", "Tue 2 Dec it is.", "Tuesday (2 December 2026)", "on Tuesday, the 2nd of December", "tues, dec 2", "Tuesday 2026-12-02", "See you Thursday, January 1.",
	} {
		m, out := replied(t, in, wrong, "It is on Wednesday, December 2nd.")
		require.Len(t, m.requests, 2, wrong)
		require.Contains(t, m.requests[1].Messages[len(m.requests[1].Messages)-1].Content, "; say which is meant")
		require.Equal(t, "It is on Wednesday, December 2nd.", out.Text)
		require.Nil(t, in.Prewritten(wrong, nil), wrong)
	}
	for _, right := range []string{
		"It is on Wednesday, December 2nd.", "Wed 2 Dec", "Tue 2 marinated steaks", "Friday, January 1", "Wednesday (2026-12-02)", "Monday, May 4", "Sat down, may 3 come?", "Tuesday, December 32",
	} {
		require.NotNil(t, in.Prewritten(right, nil), right)
	}
}

// Which rows were deleted is told, whatever a model says of it, or in which language, and which were written, if it says others.
func TestReplyNamesWhatWasWritten(t *testing.T) {
	t.Parallel()
	deleted := nodes.Written{Verb: "Deleted", Names: "Butter, Oat milk", Gone: true}
	in := nodes.ReplyInput{Done: nodes.Done{Wrote: true}, Written: []nodes.Written{{Verb: "Saved", Names: "Spinach Omelette"}, deleted}, Others: []string{"Spinach Frittata", "Milk", "5"}}
	for said, more := range map[string]string{
		"I have deleted the milk.": "\n\nDeleted: Butter, Oat milk.", "Done!": "\n\nDeleted: Butter, Oat milk.", "Die Milch ist weg.": "\n\nDeleted: Butter, Oat milk.",
		"I have saved the omelette.": "\n\nDeleted: Butter, Oat milk.", "Saved the Spinach Frittata, deleted butter and oat milk.": "\n\nSaved: Spinach Omelette.",
		"I have deleted the butter and the oat milk.": "", "Butter und Oat Milk sind gelöscht. Spinach Omelette ist gespeichert, Spinach Frittata nicht.": "",
	} {
		_, out := replied(t, in, said)
		require.Equal(t, said+more, out.Text)
		require.Equal(t, out.Text, in.Prewritten(said, nil).Text)
	}
	visit := nodes.ReplyInput{Done: nodes.Done{Wrote: true}, Written: []nodes.Written{{Verb: "Deleted", Names: "Dec 1, 2026 12:15 to 13:00 · Olga", Gone: true}}}
	for said, more := range map[string]string{
		"Olga's appointment on Tuesday is deleted.": "", "The appointment on Dec 1, 2026 is deleted.": "\n\nDeleted: Dec 1, 2026 12:15 to 13:00 · Olga.",
	} {
		_, out := replied(t, visit, said)
		require.Equal(t, said+more, out.Text)
	}
	visit.Written[0].Names = "01/12/2026 · Olga"
	_, out := replied(t, visit, "La cita de Olga está borrada.")
	require.Equal(t, "La cita de Olga está borrada.", out.Text)
	visit.Written[0].Names = "Dec 1, 2026"
	_, out = replied(t, visit, "It is deleted.")
	require.Contains(t, out.Text, "Deleted: Dec 1, 2026.", "it has no other name")
}

// Of many rows the number is enough: the only ones that a text then names are those that were left out.
func TestReplyCountsWhatWasWritten(t *testing.T) {
	t.Parallel()
	in := nodes.ReplyInput{Done: nodes.Done{Wrote: true}, Written: []nodes.Written{{Verb: "Changed", Names: "Ann Lee, Bob Ray, Cy Poe, Di Fox, Ed Roe, Flo Orr", Rows: 6}}, Others: []string{"Gus Hay"}}
	for said, more := range map[string]string{
		"He anulado 6 reservas; la de Gus Hay sigue pendiente.": "", "He anulado 16 reservas; la de Gus Hay sigue pendiente.": "\n\nChanged: Ann Lee, Bob Ray, Cy Poe, Di Fox, Ed Roe, Flo Orr.",
	} {
		_, out := replied(t, in, said)
		require.Equal(t, said+more, out.Text)
	}
}

// Whether what was done can be undone is said exactly once.
func TestReplySaysWhetherItCanBeUndone(t *testing.T) {
	t.Parallel()
	const cannot = "Cancel order cannot be taken back."
	in := nodes.ReplyInput{Done: nodes.Done{Wrote: true, Undo: cannot}, Fallback: "Cancelled."}
	_, out := replied(t, in, "The order is gone.")
	require.Equal(t, "The order is gone.\n\n"+cannot, out.Text)
	_, out = replied(t, in, "It is gone; cancel order cannot be taken back.")
	require.Equal(t, "It is gone; cancel order cannot be taken back.", out.Text)
	require.Equal(t, "Cancelled.\n\n"+cannot, in.WithoutModel().Text)
	in.Done.Company = "Deleted with it: 3 notes."
	require.Equal(t, "Cancelled.\n\nDeleted with it: 3 notes.\n\n"+cannot, in.WithoutModel().Text)
	in.Done.Company = ""
	_, out = replied(t, in, "Die Bestellung ist weg.")
	require.Equal(t, "Die Bestellung ist weg.\n\n"+cannot, out.Text)
	for _, said := range []string{
		"Die Bestellung ist weg. Das lässt sich nicht rückgängig machen.", "La commande est annulée. Cela ne peut pas être annulé.",
		"El pedido está cancelado. No se puede deshacer.", "注文を取り消しました。元に戻せません。",
	} {
		_, out = replied(t, in, said)
		require.Equal(t, said, out.Text)
	}
	in.Done.Company = "Deleted with it: 400 issues and 716 comments."
	_, out = replied(t, in, "Das Projekt ist unwiderruflich weg, mit 400 Tickets und 716 Kommentaren.")
	require.Equal(t, "Das Projekt ist unwiderruflich weg, mit 400 Tickets und 716 Kommentaren.", out.Text)
	_, out = replied(t, in, "Das Projekt ist unwiderruflich weg, mit 400 Tickets.")
	require.Equal(t, "Das Projekt ist unwiderruflich weg, mit 400 Tickets.\n\n"+in.Done.Company, out.Text)
	in.Done.Company = ""

	in.Done.Undo = vocab.CanBeUndone
	for text, want := range map[string]string{
		"The order is gone.":      "The order is gone.\n\nThis can be undone.",
		"Deleted Blue Vase.":      "Deleted Blue Vase.\n\nThis can be undone.",
		"Die Bestellung ist weg.": "Die Bestellung ist weg.",
	} {
		_, out = replied(t, in, text)
		require.Equal(t, want, out.Text)
		require.Equal(t, want, in.Prewritten(text, nil).Text)
	}
	require.Equal(t, "Cancelled.\n\nThis can be undone.", in.WithoutModel().Text)
}
