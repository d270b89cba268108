package console

import (
	"net/url"
	"strconv"
)

// listRows is the number of rows of a page of the lists for operators.
const listRows = 25

// listPage is one page of a list that is counted as a whole. The zero value is an empty list.
type listPage struct {
	// First and Last are the numbers of its rows, from 1, and Total is that of all rows.
	First, Last, Total int
	// Previous and Next are the addresses of the page before and the page after this one; empty if there is none.
	Previous, Next string
}

// pageOffset returns how many rows are before the page that the query names, which is the
// first if it names none.
func (q *request) pageOffset() int {
	n, err := strconv.Atoi(q.URL.Query().Get("page"))
	if err != nil || n < 1 || n > 1_000_000 {
		return 0
	}
	return (n - 1) * listRows
}

// listPage returns the page with some rows after an offset, of total rows.
func (q *request) listPage(offset, rows, total int) listPage {
	p := listPage{First: offset + 1, Last: offset + rows, Total: total}
	link := func(offset int) string {
		values := url.Values{}
		for name, given := range q.URL.Query() {
			values[name] = given
		}
		values.Set("page", strconv.Itoa(offset/listRows+1))
		return q.URL.Path + "?" + values.Encode()
	}
	if offset > 0 {
		p.Previous = link(offset - listRows)
	}
	if offset+rows < total && rows > 0 {
		p.Next = link(offset + listRows)
	}
	return p
}
