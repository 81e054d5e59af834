// k-nucleotide of the Benchmarks Game: a goroutine for each part of each length, over the whole sequence in memory.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"runtime"
	"sort"
	"strings"
)

var lengths = []int{18, 12, 6, 4, 3, 2, 1}

var asked = []string{"GGT", "GGTA", "GGTATT", "GGTATTTTAATT", "GGTATTTTAATTTATAGT"}

// direct is the greatest length whose counts are an array.
const direct = 6

// counted is what one goroutine has counted: of one length, in one range.
type counted struct {
	length int
	small  []uint64
	large  map[uint64]uint64
}

func (c counted) of(key uint64) uint64 {
	if c.small != nil {
		return c.small[key]
	}
	return c.large[key]
}

// code has the two bits of each letter, and 4 for what is none.
var code = func() (codes [256]byte) {
	for i := range codes {
		codes[i] = 4
	}
	for i, letter := range []byte("ACGT") {
		codes[letter], codes[letter|32] = byte(i), byte(i)
	}
	return
}()

// three reads the codes of the sequence THREE.
func three(name string) []byte {
	file, err := os.Open(name)
	if err != nil {
		fail("cannot read the input", err.Error())
	}
	defer file.Close()
	in := bufio.NewScanner(file)
	in.Buffer(make([]byte, 1<<16), 1<<30)
	var sequence []byte
	inside := false
	for in.Scan() {
		line := in.Bytes()
		if len(line) > 0 && line[0] == '>' {
			if inside {
				break
			}
			inside = bytes.HasPrefix(line, []byte(">THREE"))
			continue
		}
		if !inside {
			continue
		}
		for _, letter := range line {
			if code[letter] > 3 {
				fail("no nucleotide", string(letter))
			}
			sequence = append(sequence, code[letter])
		}
	}
	if err := in.Err(); err != nil {
		fail("cannot read the input", err.Error())
	}
	return sequence
}

// count counts the keys of this length that begin in the range.
func count(sequence []byte, length, from, to int) counted {
	c := counted{length: length}
	mask := uint64(1)<<(2*length) - 1
	if to > len(sequence)-length+1 {
		to = len(sequence) - length + 1
	}
	if length <= direct {
		c.small = make([]uint64, mask+1)
	} else {
		c.large = make(map[uint64]uint64)
	}
	if from >= to {
		return c
	}
	key := uint64(0)
	for _, code := range sequence[from : from+length-1] {
		key = key<<2 | uint64(code)
	}
	rest := sequence[from+length-1 : to+length-1]
	if length <= direct {
		for _, code := range rest {
			key = (key<<2 | uint64(code)) & mask
			c.small[key]++
		}
		return c
	}
	for _, code := range rest {
		key = (key<<2 | uint64(code)) & mask
		c.large[key]++
	}
	return c
}

func nucleotides(o options) string {
	o.only("--input")
	sequence := three(o.text("--input", ""))
	ranges := runtime.GOMAXPROCS(0)
	parts := make(chan counted, len(lengths)*ranges)
	for _, length := range lengths {
		for r := 0; r < ranges; r++ {
			from, to := len(sequence)*r/ranges, len(sequence)*(r+1)/ranges
			go func(length int) { parts <- count(sequence, length, from, to) }(length)
		}
	}
	all := map[int][]counted{}
	for i := 0; i < cap(parts); i++ {
		part := <-parts
		all[part.length] = append(all[part.length], part)
	}
	var text strings.Builder
	for length := 1; length <= 2; length++ {
		shares(&text, all[length], length)
	}
	for _, letters := range asked {
		key := uint64(0)
		for i := range letters {
			key = key<<2 | uint64(code[letters[i]])
		}
		fmt.Fprintf(&text, "%d\t%s\n", together(all[len(letters)], key), letters)
	}
	return strings.TrimSuffix(text.String(), "\n")
}

func together(parts []counted, key uint64) (sum uint64) {
	for _, part := range parts {
		sum += part.of(key)
	}
	return
}

// shares writes the share of each key of this length, the most frequent first.
func shares(text *strings.Builder, parts []counted, length int) {
	type share struct {
		letters string
		count   uint64
	}
	var found []share
	sum := uint64(0)
	for key := uint64(0); key < 1<<(2*length); key++ {
		letters := ""
		for place := length - 1; place >= 0; place-- {
			letters += string("ACGT"[key>>(2*place)&3])
		}
		if count := together(parts, key); count > 0 {
			found = append(found, share{letters, count})
			sum += count
		}
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i].count > found[j].count })
	for _, one := range found {
		fmt.Fprintf(text, "%s %.3f\n", one.letters, 100*float64(one.count)/float64(sum))
	}
	text.WriteString("\n")
}
