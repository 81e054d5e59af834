// Spawning and joining in Go: a goroutine, and a channel of one for what it returns, are the task
// and its handle.
package main

func returning(number uint64) <-chan uint32 {
	result := make(chan uint32, 1)
	go func() { result <- uint32(number) }()
	return result
}

func spawn(o options) uint64 {
	o.only("--spawns", "--batch")
	spawns, batch := o.number("--spawns", 1000), o.number("--batch", 1)
	sum := uint32(0)
	if batch == 1 {
		for number := uint64(0); number < spawns; number++ {
			sum += <-returning(number)
		}
		return uint64(sum)
	}
	tasks := make([]<-chan uint32, 0, batch)
	for next := uint64(0); next < spawns; {
		for end := min(spawns, next+batch); next < end; next++ {
			tasks = append(tasks, returning(next))
		}
		for _, task := range tasks {
			sum += <-task
		}
		tasks = tasks[:0]
	}
	return uint64(sum)
}

func min(a, b uint64) uint64 {
	if a < b {
		return a
	}
	return b
}
