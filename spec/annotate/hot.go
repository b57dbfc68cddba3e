package main

import (
	"fmt"
	"sort"
	"strings"
)

type item struct {
	name  string
	count int
}

//go:noinline
func mix(list []uint32, x uint32) uint32 {
	s := uint32(0)
	for i, v := range list {
		if (s^v)&1 == 0 {
			s += v >> 3
		} else {
			s = s*33 + uint32(i)
		}
	}
	return s ^ x
}

func count(text string) []item {
	by := map[string]int{}
	for _, word := range strings.Fields(text) {
		by[word] += len(word)
	}
	list := make([]item, 0, len(by))
	for name, n := range by {
		list = append(list, item{name, n})
	}
	sort.Slice(list, func(i, k int) bool { return list[i].count > list[k].count })
	return list
}

func main() {
	var b strings.Builder
	for i := 0; i < 20000; i++ {
		fmt.Fprintf(&b, "key%d ", i*7919%5003)
	}
	list, s := make([]uint32, 4096), uint32(0)
	for i := 0; i < 300; i++ {
		items := count(b.String())
		for k := 0; k < 100; k++ {
			s = mix(list, s+uint32(len(items)))
			list[k] += s
		}
	}
	fmt.Println(s)
}
