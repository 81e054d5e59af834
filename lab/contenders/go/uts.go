// Savina's uct: a tree that grows as its nodes ask the root for children, and is walked through then.
package main

// order is what a node is told.
type order struct {
	what   int
	number uint32
	work   uint32
}

const (
	grow = iota
	granted
	visit
	end
)

// ask is what the root is told: a node wants children, or, without one, has ended.
type ask struct{ node chan order }

// step32 is one step of xorshift with 32 bits (Marsaglia 2003).
func step32(state uint32) uint32 {
	state ^= state << 13
	state ^= state >> 17
	return state ^ state<<5
}

// calculate takes steps of the generator, which begins with a node's number.
//
//go:noinline
func calculate(state, count uint32) uint32 {
	for ; count > 0; count-- {
		state = step32(state)
	}
	return state
}

// drawWork is about mean, as a normal distribution with a deviation of 100 has it.
func drawWork(state *uint32, mean uint32) uint32 {
	sum := mean
	for draw := 0; draw < 12; draw++ {
		*state = step32(*state)
		sum += *state % 100
	}
	if sum < 595 {
		return 1
	}
	return sum - 594
}

type tree struct {
	root     chan ask
	children uint32
}

func uts(o options) uint64 {
	o.only("--nodes", "--children", "--work")
	nodes, mean := o.number("--nodes", 200000), uint32(o.number("--work", 500))
	t := tree{make(chan ask, 1024), uint32(o.number("--children", 10))}
	state, children := step32(2), uint64(t.children)
	first := t.births(1, drawWork(&state, mean), nil)
	size, open, ended, grown := 1+children, children, uint64(1), false
	for !grown || ended < size {
		asked := <-t.root
		if asked.node == nil {
			ended++
			continue
		}
		if grown {
			continue
		}
		open--
		room := size+children <= nodes
		state = step32(state)
		if room && state%2 == 1 {
			asked.node <- order{grow, uint32(size), drawWork(&state, mean)}
			size, open = size+children, open+children
		}
		if grown = !room || open == 0; grown {
			for _, child := range first {
				child <- order{what: visit}
				child <- order{what: end}
			}
		}
	}
	return ended
}

// births starts children with numbers from number on.
func (t tree) births(number, work uint32, parent chan order) []chan order {
	born := make([]chan order, t.children)
	for i := range born {
		// To grow, to visit, to end, and of each child that it has children: nobody waits to send.
		born[i] = make(chan order, t.children+3)
		go t.node(number+uint32(i), work, born[i], parent)
	}
	return born
}

func (t tree) node(number, work uint32, inbox, parent chan order) {
	calculate(number, 100)
	t.root <- ask{inbox}
	var children []chan order
	grants := 0
	for {
		switch message := <-inbox; message.what {
		case grow:
			if parent != nil {
				parent <- order{what: granted}
			}
			children = t.births(message.number, message.work, inbox)
		case granted:
			grants++
		case visit:
			calculate(number, work)
			for _, child := range children {
				child <- order{what: visit}
			}
		case end:
			for _, child := range children {
				child <- order{what: end}
			}
			t.root <- ask{}
			return
		}
	}
}
