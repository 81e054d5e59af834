// Ping-pong in Go: pairs of goroutines and two channels of one each; each way adds one.
package main

func pair(trips uint64, done chan<- uint64) {
	ping, pong := make(chan uint64, 1), make(chan uint64, 1)
	go func() {
		for number := range ping {
			pong <- number + 1
		}
	}()
	go func() {
		number := uint64(0)
		for i := uint64(0); i < trips; i++ {
			ping <- number
			number = <-pong + 1
		}
		done <- number
	}()
}

func pingpong(o options) uint64 {
	o.only("--trips", "--pairs")
	trips, pairs := o.number("--trips", 1000), o.number("--pairs", 1)
	done := make(chan uint64, pairs)
	for index := uint64(0); index < pairs; index++ {
		pair(part(trips, pairs, index), done)
	}
	all := uint64(0)
	for index := uint64(0); index < pairs; index++ {
		all += <-done
	}
	return all
}
