package crud

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Y10: people do not read what Postgres writes.
func TestY10RulesInWords(t *testing.T) {
	t.Parallel()

	for definition, want := range map[string]string{
		"quantity >= 0::numeric":                                      "has to be at least 0",
		"quantity >= (0)::numeric":                                    "has to be at least 0",
		"servings > 0":                                                "has to be more than 0",
		"tier >= 1 AND tier <= 3":                                     "has to be at least 1 and at most 3",
		"char_length(name) >= 1 AND char_length(name) <= 200":         "has to have at least 1 and at most 200 characters",
		"starts_on >= '2020-01-01'::date":                             "has to be at least 2020-01-01",
		"difficulty = ANY (ARRAY['easy'::text, 'so so'::text])":       "has to be easy or so so",
		"mood = ANY (ARRAY['a'::text, 'b''s'::text, 'c'::text])":      "has to be a, b's or c",
		"ends_on >= starts_on":                                        "breaks the rule ends_on >= starts_on",
		"price > 0::numeric AND stock >= 0":                           "breaks the rule price > 0 AND stock >= 0",
		"\"weightKg\" > 0::numeric AND \"weightKg\" < 200::numeric":   "has to be more than 0 and less than 200",
		"\"minutes\" = ANY (ARRAY[10, 20, 30])":                       "has to be 10, 20 or 30",
		"status <> 'CANCELLED'::vet.\"State\" OR \"why\" IS NOT NULL": "breaks the rule status <> 'CANCELLED' OR \"why\" IS NOT NULL",
		"state <> 'a'::\"Vet\".state[] AND x":                         "breaks the rule state <> 'a' AND x",
		"code::text ~ '^[A-Z]+$'::text":                               "breaks the rule code ~ '^[A-Z]+$'",
		"at < '2030-01-01 00:00:00+00'::timestamp with time zone + x": "breaks the rule at < '2030-01-01 00:00:00+00' + x",
	} {
		require.Equal(t, want, ruleInWords(definition), definition)
	}
}

func TestExclusionsInWords(t *testing.T) {
	t.Parallel()

	for definition, want := range map[string]string{
		"EXCLUDE USING gist (company_id WITH =, plate WITH =, slot WITH &&)":                                                   "Its slot overlaps that of another row with the same plate",
		`EXCLUDE USING gist ("roomId" WITH =, tstzrange(starts_at, ends_at, '[)'::text) WITH &&) WHERE (state <> 'off'::text)`: "Its starts_at to ends_at overlaps that of another row with the same roomId, where state <> 'off'",
		"EXCLUDE USING btree (plate WITH =) DEFERRABLE":                                                                        "There is another row with the same plate",
		"EXCLUDE USING gist (lower(plate) WITH =)":                                                                             "It cannot stand beside a row that is there: EXCLUDE USING gist (lower(plate) WITH =)",
	} {
		require.Equal(t, want, exclusionInWords(definition, []string{"plate", "slot", "roomId"}))
	}
}
