package offline

import (
	"slices"
)

// scaleTo makes a draft serve the number of people the text names.
func (c *composer) scaleTo(content map[string]any, text string) {
	m := forPeople.FindStringSubmatch(text)
	columns := c.scaleColumns()
	if m == nil || len(columns) == 0 {
		return
	}
	want, ok := number(m[1])
	have, isNumber := content[columns[0]].(float64)
	if !ok || !isNumber || have == 0 || want == have {
		return
	}
	c.scale(content, want, have, columns)
}

// scaleColumns are the columns that grow with a draft: the row's first, the
// children's after it.
func (c *composer) scaleColumns() []string {
	var own, other []string
	for _, ch := range c.d.Changes {
		for _, column := range ch.ScaleColumns {
			if c.row.Column(column) != nil && !slices.Contains(own, column) {
				own = append(own, column)
			} else if c.row.Column(column) == nil && !slices.Contains(other, column) {
				other = append(other, column)
			}
		}
	}
	if len(own) == 0 {
		return nil
	}
	return append(own, other...)
}

func (c *composer) scale(content map[string]any, by, over float64, columns []string) {
	grow := func(row map[string]any) {
		for _, column := range columns {
			if n, ok := row[column].(float64); ok {
				row[column] = c.multiply(n, by, over)
			}
		}
	}
	grow(content)
	for _, row := range c.children(content) {
		if child, ok := row.(map[string]any); ok {
			grow(child)
		}
	}
}

func round(n float64) float64 { return float64(int(n*100+0.5)) / 100 }
