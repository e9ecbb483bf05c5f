package offline

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestForeignDomain(t *testing.T) {
	t.Parallel()
	known := "## Recent Context (last 2 turns)\n- machine_1: Lathe 3000 (machine) [read]\n- ticket_1: Fix the belt (ticket) [read]"
	for message, want := range map[string][]string{
		"list all machines":                      {"read/shop_floor: Read machines"},
		"which machines are stopped?":            {`read/shop_floor: Read machines where [{"field":"state","op":"=","value":"stopped"}]`},
		"add a machine called Drill Press":       {`write/shop_floor: Create machines with [{"name":"Drill Press"}]`},
		"create a ticket to oil the lathe":       {`write/tickets: Create tickets with [{"title":"Oil the lathe"}]`},
		"show the lathe":                         {"read/shop_floor: Read machines machine_1 in full"},
		"set the state of the lathe to stopped":  {`write/shop_floor: Update machines machine_1 with [{"state":"stopped"}]`},
		"rename the lathe to Lathe 4000":         {`write/shop_floor: Update machines machine_1 with [{"name":"Lathe 4000"}]`},
		"change the serial of the lathe to A-17": {`write/shop_floor: Update machines machine_1 with [{"serial":"A-17"}]`},
		"delete the ticket fix the belt":         {"write/tickets: Delete tickets ticket_1"},
		"how many tickets per priority?":         {"analyze/tickets: Count tickets by priority"},
		"mark fix the belt as done":              {`write/tickets: Update tickets ticket_1 with [{"done":true}]`},
		"mark the lathe as stopped":              {`write/shop_floor: Update machines machine_1 with [{"state":"stopped"}]`},
		"draft a curry":                          nil,
	} {
		require.Equal(t, want, descriptions(thinkOf(t, workshop(), message, known, "", "")), message)
	}
}
