package main

// The search of `bfs`, top-down or direction-optimising (Beamer et al. 2012), and its checks.

import (
	"math/bits"
	"runtime"
	"sync/atomic"
)

type search struct {
	g          *graph
	optimising bool
	parents    []uint32
	// The frontier, while the search goes bottom-up, and the next one.
	marks, nextMarks []uint64
}

func newSearch(g *graph, optimising bool) *search {
	n := len(g.offsets) - 1
	s := &search{g: g, optimising: optimising, parents: make([]uint32, n)}
	s.marks, s.nextMarks = make([]uint64, (n+63)/64), make([]uint64, (n+63)/64)
	s.clear()
	return s
}

func (s *search) clear() {
	for v := range s.parents {
		s.parents[v] = bfsNone
	}
}

// size is that of a frontier: its vertices, and the neighbours that they have.
type size struct{ vertices, targets int }

func (s *search) run(root uint32) {
	s.parents[root] = root
	// In the pieces in which it was found.
	frontier, now, before := [][]uint32{{root}}, size{1, s.g.degree(root)}, size{}
	unexplored, bottomUp := len(s.g.targets), false
	for now.vertices > 0 {
		unexplored -= now.targets
		grows, was := now.vertices > before.vertices, bottomUp
		before = now
		if s.optimising && bottomUp {
			bottomUp = grows || now.vertices >= len(s.parents)/bfsBeta
		} else if s.optimising {
			bottomUp = grows && now.targets > unexplored/bfsAlpha
		}
		if bottomUp && !was {
			s.mark(frontier)
		} else if was && !bottomUp {
			frontier = s.marked()
		}
		if bottomUp {
			now = s.bottomUp()
			s.marks, s.nextMarks = s.nextMarks, s.marks
		} else {
			frontier, now = s.topDown(frontier)
		}
	}
}

// partSize is a sixteenth of a worker's share, within limits.
func partSize(n, least, most int) int {
	size := n / (runtime.GOMAXPROCS(0) * 16)
	if size < least {
		return least
	}
	if size > most {
		return most
	}
	return size
}

// split gives the parts of a frontier that are searched, or marked, each by one worker.
func split(frontier [][]uint32) [][]uint32 {
	vertices := 0
	for _, piece := range frontier {
		vertices += len(piece)
	}
	each := partSize(vertices, 64, 4096)
	var parts [][]uint32
	for _, piece := range frontier {
		for ; len(piece) > each; piece = piece[each:] {
			parts = append(parts, piece[:each])
		}
		if len(piece) > 0 {
			parts = append(parts, piece)
		}
	}
	return parts
}

func (s *search) topDown(frontier [][]uint32) ([][]uint32, size) {
	parts := split(frontier)
	found, targets := make([][]uint32, len(parts)), make([]int, len(parts))
	inParts(len(parts), func(part int) {
		var next []uint32
		degrees := 0
		for _, v := range parts[part] {
			for _, target := range s.g.neighbours(v) {
				parent := &s.parents[target]
				if atomic.LoadUint32(parent) == bfsNone && atomic.CompareAndSwapUint32(parent, bfsNone, v) {
					next = append(next, target)
					if s.optimising {
						degrees += s.g.degree(target)
					}
				}
			}
		}
		found[part], targets[part] = next, degrees
	})
	var all size
	for part := range found {
		all.vertices += len(found[part])
		all.targets += targets[part]
	}
	return found, all
}

// wordsEach is how many words of a bitmap one part has.
func (s *search) wordsEach() int { return partSize(len(s.marks), 16, len(s.marks)) }

func (s *search) bottomUp() size {
	each := s.wordsEach()
	parts := (len(s.marks) + each - 1) / each
	sizes := make([]size, parts)
	inParts(parts, func(part int) {
		from, to := span(part, each, len(s.marks))
		var all size
		for word := from; word < to; word++ {
			s.nextMarks[word] = s.lookUp(word, &all)
		}
		sizes[part] = all
	})
	var all size
	for _, one := range sizes {
		all.vertices += one.vertices
		all.targets += one.targets
	}
	return all
}

func (s *search) lookUp(word int, all *size) uint64 {
	var marks uint64
	for bit := 0; bit < 64 && word*64+bit < len(s.parents); bit++ {
		v := uint32(word*64 + bit)
		if s.parents[v] != bfsNone {
			continue
		}
		neighbours := s.g.neighbours(v)
		for _, target := range neighbours {
			if s.marks[target/64]>>(target%64)&1 == 1 {
				s.parents[v] = target
				marks |= 1 << bit
				all.vertices++
				all.targets += len(neighbours)
				break
			}
		}
	}
	return marks
}

func (s *search) mark(frontier [][]uint32) {
	for word := range s.marks {
		s.marks[word] = 0
	}
	parts := split(frontier)
	inParts(len(parts), func(part int) {
		for _, v := range parts[part] {
			add(&s.marks[v/64], 1<<(v%64))
		}
	})
}

// add is the atomic Or, which the language has since 1.23.
func add(word *uint64, bit uint64) {
	for {
		old := atomic.LoadUint64(word)
		if atomic.CompareAndSwapUint64(word, old, old|bit) {
			return
		}
	}
}

func (s *search) marked() [][]uint32 {
	each := s.wordsEach()
	frontier := make([][]uint32, (len(s.marks)+each-1)/each)
	inParts(len(frontier), func(part int) {
		from, to := span(part, each, len(s.marks))
		var piece []uint32
		for word := from; word < to; word++ {
			for marks := s.marks[word]; marks != 0; marks &= marks - 1 {
				piece = append(piece, uint32(word*64+bits.TrailingZeros64(marks)))
			}
		}
		frontier[part] = piece
	})
	return frontier
}

// treeLevels follows the parents; a fault if they form no tree.
func treeLevels(root uint32, parents []uint32) ([]uint32, string) {
	levels := make([]uint32, len(parents))
	for v := range levels {
		levels[v] = bfsNone
	}
	if parents[root] != root {
		return nil, "check 1: the root is not its own parent"
	}
	levels[root] = 0
	var path []uint32
	for start := range parents {
		at := uint32(start)
		for parents[start] != bfsNone && levels[at] == bfsNone {
			if len(path) == len(parents) {
				return nil, "check 1: the parents lead in a circle"
			}
			path = append(path, at)
			if at = parents[at]; int(at) >= len(parents) || parents[at] == bfsNone {
				return nil, "check 1: a parent is not in the tree"
			}
		}
		for level := levels[at]; len(path) > 0; path = path[:len(path)-1] {
			level++
			levels[path[len(path)-1]] = level
		}
	}
	return levels, ""
}

// invalid makes the five checks of the specification: what is wrong, or nothing.
func invalid(edges []edge, root uint32, parents []uint32) string {
	levels, fault := treeLevels(root, parents)
	if fault != "" {
		return fault
	}
	joined := make([]bool, len(parents))
	for _, e := range edges {
		one, other := levels[e[0]], levels[e[1]]
		if one == bfsNone && other == bfsNone {
			continue
		}
		if one == bfsNone || other == bfsNone {
			return "check 4: an edge leads out of what was reached"
		}
		if one+1 < other || other+1 < one {
			return "check 3: the ends of an edge differ by more than one level"
		}
		if parents[e[0]] == e[1] {
			joined[e[0]] = true
		}
		if parents[e[1]] == e[0] {
			joined[e[1]] = true
		}
	}
	for v, parent := range parents {
		if parent == bfsNone || uint32(v) == root {
			continue
		}
		if levels[v] != levels[parent]+1 {
			return "check 2: a vertex is not one level below its parent"
		}
		if !joined[v] {
			return "check 5: no edge joins a vertex and its parent"
		}
	}
	return ""
}
