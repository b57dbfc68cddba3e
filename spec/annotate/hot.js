"use strict";
function mix(list, x) {
  let s = 0;
  for (let i = 0; i < list.length; i++) {
    s = (s & 1) ? (s ^ (x >> 3)) + list[i] | 0 : Math.imul(s, 33) + i | 0;
  }
  return s;
}
function count(words) {
  const by = new Map();
  for (const word of words) by.set(word, (by.get(word) || 0) + word.length);
  return [...by.entries()].sort((a, b) => b[1] - a[1]);
}
const words = [];
for (let i = 0; i < 20000; i++) words.push("key" + i * 7919 % 5003);
const list = new Int32Array(4096);
let s = 0;
for (let i = 0; i < 400; i++) {
  s += count(words)[0][1];
  for (let k = 0; k < 200; k++) s = mix(list, s + k) & 0xffff;
}
console.log(s);
