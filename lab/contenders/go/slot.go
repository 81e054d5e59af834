// What a slot for the next goroutine (Go's runnext) is worth: one woken by a goroutine that
// calculates on, and short handlers.
package main

func slot(o options) uint64 {
	o.only("--which", "--wakes", "--work")
	wakes, work := o.number("--wakes", 100), o.number("--work", 1000)
	answer := make(chan uint64)
	switch which := o.text("--which", "busy"); which {
	case "busy":
		go func() { answer <- busy(wakes, work) }()
	case "short":
		go func() { answer <- short(wakes, work) }()
	default:
		fail("unknown choice (busy, short)", which)
	}
	return <-answer
}

// busy is tokio#4941: one goroutine wakes the other and calculates on; the other one calculates as long.
func busy(wakes, work uint64) uint64 {
	ask, answer := make(chan uint64, 1), make(chan uint64, 1)
	go func() {
		for state := range ask {
			answer <- steps(state, work)
		}
	}()
	own, others := uint64(1), uint64(2)
	for ; wakes > 0; wakes-- {
		ask <- others
		own = steps(own, work)
		others = <-answer
	}
	return own ^ others
}

// short is tokio#8065: short handlers, each spawned and joined.
func short(wakes, work uint64) uint64 {
	state := uint64(1)
	for ; wakes > 0; wakes-- {
		result := make(chan uint64, 1)
		go func(state uint64) { result <- steps(state, work) }(state)
		state = <-result
	}
	return state
}
