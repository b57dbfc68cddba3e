use std::collections::HashMap;

fn words(n: usize) -> Vec<String> {
    (0..n).map(|i| format!("key{}", (i * 7919) % 5003)).collect()
}

#[inline(never)]
fn count(list: &[String]) -> HashMap<&str, usize> {
    let mut by_word = HashMap::new();
    for word in list {
        *by_word.entry(word.as_str()).or_insert(0) += word.len();
    }
    by_word
}

#[inline(never)]
fn sum(values: &[u64]) -> u64 {
    values.iter().filter(|v| **v % 3 != 0).map(|v| v.rotate_left(7) ^ 0x9e37).fold(0, u64::wrapping_add)
}

fn main() {
    let list = words(20000);
    let mut total = 0;
    for round in 0..400 {
        let counted = count(&list);
        let mut values: Vec<u64> = counted.values().map(|v| *v as u64 * round).collect();
        values.sort_unstable_by(|a, b| b.cmp(a));
        for _ in 0..50 {
            total ^= sum(&values);
        }
    }
    println!("{}", total);
}
