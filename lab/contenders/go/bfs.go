package main

// The breadth-first search of the Graph500 benchmark: the graph of the app `graph500`, from the same seed; its search, in
// shared memory, with goroutines that take parts of each level; and the five checks of the specification.

import (
	"fmt"
	"math/bits"
	"os"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"
	"time"
)

const (
	bfsNone       = ^uint32(0)
	bfsEdgeFactor = 16
	bfsSeed       = 1
	// When a search goes bottom-up, and when it goes back: Beamer et al. 2012.
	bfsAlpha = 14
	bfsBeta  = 24
)

// The streams of random numbers of one seed.
const (
	bfsVertices = ^uint64(0) - iota
	bfsOrder
	bfsRoots
)

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// splitmix64.
type random uint64

func newRandom(seed, stream uint64) random { return random(mix(seed ^ mix(stream))) }

func (r *random) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	return mix(uint64(*r))
}

// A random order of the numbers below size.
type permutation struct {
	size, mask uint64
	fold       int
	rounds     [4][2]uint64
}

func newPermutation(size, seed, stream uint64) permutation {
	r, width := newRandom(seed, stream), bits.Len64(size-1)
	if width == 0 {
		width = 1
	}
	p := permutation{size: size, mask: ^uint64(0) >> (64 - width), fold: (width + 1) / 2}
	for i := range p.rounds {
		p.rounds[i] = [2]uint64{r.next() | 1, r.next()}
	}
	return p
}

func (p *permutation) of(n uint64) uint64 {
	for {
		for _, round := range p.rounds {
			n = (n*round[0] + round[1]) & p.mask
			n ^= n >> p.fold
		}
		if n < p.size {
			return n
		}
	}
}

type edge [2]uint32

// inParts calls work for each of the parts, in as many goroutines as there are processors to run them.
func inParts(parts int, work func(part int)) {
	workers := runtime.GOMAXPROCS(0)
	if workers == 1 || parts == 1 {
		for part := 0; part < parts; part++ {
			work(part)
		}
		return
	}
	var next int64
	var all sync.WaitGroup
	all.Add(workers)
	for w := 0; w < workers; w++ {
		go func() {
			defer all.Done()
			for {
				part := int(atomic.AddInt64(&next, 1)) - 1
				if part >= parts {
					return
				}
				work(part)
			}
		}()
	}
	all.Wait()
}

// span is what a part has of n, at size each.
func span(part, size, n int) (int, int) {
	end := (part + 1) * size
	if end > n {
		end = n
	}
	return part * size, end
}

func below(probability float64) uint32 { return uint32(probability * 4294967296) }

func kronecker(scale int) []edge {
	const size = 1 << 14
	vertices := newPermutation(1<<scale, bfsSeed, bfsVertices)
	order := newPermutation(bfsEdgeFactor<<scale, bfsSeed, bfsOrder)
	limits := [3]uint32{below(0.57), below(0.57 + 0.19), below(0.57 + 0.19 + 0.19)}
	edges := make([]edge, bfsEdgeFactor<<scale)
	inParts((len(edges)+size-1)/size, func(part int) {
		from, to := span(part, size, len(edges))
		for place := from; place < to; place++ {
			r := newRandom(bfsSeed, order.of(uint64(place)))
			var row, column, chances uint64
			for level := 0; level < scale; level++ {
				if level%2 == 0 {
					chances = r.next()
				}
				chance := uint32(chances)
				chances >>= 32
				row, column = row<<1, column<<1
				switch {
				case chance < limits[0]:
				case chance < limits[1]:
					column |= 1
				case chance < limits[2]:
					row |= 1
				default:
					row, column = row|1, column|1
				}
			}
			edges[place] = edge{uint32(vertices.of(row)), uint32(vertices.of(column))}
		}
	})
	return edges
}

type graph struct {
	offsets []int
	targets []uint32
	loops   []uint32
}

func construct(vertices int, edges []edge) *graph {
	const size = 1 << 15
	parts := (len(edges) + size - 1) / size
	degrees := make([]uint32, vertices)
	loops := make([][]uint32, parts)
	inParts(parts, func(part int) {
		from, to := span(part, size, len(edges))
		for _, e := range edges[from:to] {
			if e[0] == e[1] {
				loops[part] = append(loops[part], e[0])
				continue
			}
			atomic.AddUint32(&degrees[e[0]], 1)
			atomic.AddUint32(&degrees[e[1]], 1)
		}
	})
	g := &graph{offsets: make([]int, vertices+1)}
	for v, degree := range degrees {
		g.offsets[v+1] = g.offsets[v] + int(degree)
	}
	g.targets = make([]uint32, g.offsets[vertices])
	inParts(parts, func(part int) {
		from, to := span(part, size, len(edges))
		for _, e := range edges[from:to] {
			if e[0] != e[1] {
				g.targets[g.offsets[e[0]]+int(atomic.AddUint32(&degrees[e[0]], ^uint32(0)))] = e[1]
				g.targets[g.offsets[e[1]]+int(atomic.AddUint32(&degrees[e[1]], ^uint32(0)))] = e[0]
			}
		}
	})
	for _, some := range loops {
		g.loops = append(g.loops, some...)
	}
	return g
}

func (g *graph) degree(v uint32) int { return g.offsets[v+1] - g.offsets[v] }

func (g *graph) neighbours(v uint32) []uint32 { return g.targets[g.offsets[v]:g.offsets[v+1]] }

func (g *graph) roots(count int) []uint32 {
	n := uint64(len(g.offsets) - 1)
	order, roots := newPermutation(n, bfsSeed, bfsRoots), []uint32{}
	for i := uint64(0); i < n && len(roots) < count; i++ {
		if v := uint32(order.of(i)); g.degree(v) > 0 {
			roots = append(roots, v)
		}
	}
	return roots
}

// edgesReached counts them as the specification does.
func (g *graph) edgesReached(parents []uint32) uint64 {
	var ends, loops uint64
	for v, parent := range parents {
		if parent != bfsNone {
			ends += uint64(g.degree(uint32(v)))
		}
	}
	for _, v := range g.loops {
		if parents[v] != bfsNone {
			loops++
		}
	}
	return ends/2 + loops
}

// bfs searches from random vertices and gives how many trees were valid; what the searches alone took goes to stderr.
func bfs(o options) uint64 {
	o.only("--scale", "--searches", "--direction")
	scale, searches := int(o.number("--scale", 16)), int(o.number("--searches", 64))
	direction := o.text("--direction", "top-down")
	if scale > 31 || direction != "top-down" && direction != "optimising" {
		fail("expected a scale of at most 31 and the direction top-down or optimising, got", direction)
	}
	edges := kronecker(scale)
	start := time.Now()
	g := construct(1<<scale, edges)
	construction := time.Since(start)
	s := newSearch(g, direction == "optimising")
	roots := g.roots(searches)
	s.run(roots[0])
	var seconds, each []float64
	var reached float64
	for _, root := range roots {
		s.clear()
		start := time.Now()
		s.run(root)
		took := time.Since(start).Seconds()
		if fault := invalid(edges, root, s.parents); fault != "" {
			fail(fmt.Sprintf("the search from %d is wrong", root), fault)
		}
		seconds = append(seconds, took)
		in := float64(g.edgesReached(s.parents))
		each, reached = append(each, took*1e9/in), reached+in
	}
	sort.Float64s(seconds)
	var sum float64
	for _, ns := range each {
		sum += ns
	}
	ns, n := sum/float64(len(each)), len(seconds)
	fmt.Fprintf(os.Stderr, "figures: ns_per_edge=%.4f mteps=%.3f search_ms=%.4f construction_ms=%.2f edges=%.0f\n",
		ns, 1e3/ns, (seconds[(n-1)/2]+seconds[n/2])/2*1e3, construction.Seconds()*1e3, reached/float64(n))
	return uint64(n)
}
