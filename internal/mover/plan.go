package mover

import (
	"cmp"
	"slices"
)

// Load is what a database had to do, and the users who made it do most.
type Load struct {
	Database string
	Turns    int64 // of all users
	Users    []UserLoad
}

// UserLoad is what one user made a database do.
type UserLoad struct {
	Name  string
	Turns int64
}

// PlannedMove is one step towards databases that have equally much to do.
type PlannedMove struct {
	User  string `json:"user"`
	From  string `json:"from"`
	To    string `json:"to"`
	Turns int64  `json:"turns"`
}

// even is how far above the mean a database may be without a move.
const even = 1.05

// Unevenness is how much the busiest database has to do, by the mean; 1 where nothing is done.
func Unevenness(loads []Load) float64 {
	var most, all int64
	for _, load := range loads {
		most, all = max(most, load.Turns), all+load.Turns
	}
	if all == 0 {
		return 1
	}

	return float64(most) * float64(len(loads)) / float64(all)
}

// Plan says whom to move, and changes loads to what they are afterwards. Each move takes from the busiest database to the idlest,
// and heavy users first, so that few moves are needed: the heaviest who leaves the busiest no less to do than the idlest then has
// or, where there is none, the lightest, if that evens the two out at all.
func Plan(loads []Load) []PlannedMove {
	plan := []PlannedMove{}
	if len(loads) < 2 {
		return plan
	}
	byTurns := func(a, b Load) int { return cmp.Compare(a.Turns, b.Turns) }
	for i := range loads {
		loads[i].Users = slices.SortedStableFunc(slices.Values(loads[i].Users), func(a, b UserLoad) int { return cmp.Compare(b.Turns, a.Turns) })
	}
	for Unevenness(loads) > even {
		slices.SortStableFunc(loads, byTurns)
		busiest, idlest := &loads[len(loads)-1], &loads[0]
		gap := busiest.Turns - idlest.Turns
		who := slices.IndexFunc(busiest.Users, func(u UserLoad) bool { return u.Turns > 0 && 2*u.Turns <= gap })
		if last := len(busiest.Users) - 1; who < 0 && last >= 0 && busiest.Users[last].Turns > 0 && busiest.Users[last].Turns < gap {
			who = last
		}
		if who < 0 {
			return plan
		}
		user := busiest.Users[who]
		plan = append(plan, PlannedMove{User: user.Name, From: busiest.Database, To: idlest.Database, Turns: user.Turns})
		busiest.Turns, idlest.Turns = busiest.Turns-user.Turns, idlest.Turns+user.Turns
		busiest.Users = slices.Delete(busiest.Users, who, who+1) // and stays where they come to
	}

	return plan
}
