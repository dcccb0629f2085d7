// What reductions merge, on the Value type of the shader. Needs lib/math.wgsl and natural_log of
// lib/elementary.wgsl before it.

fn maximum(x: Value, y: Value) -> Value {
  return {{ larger }};
}

fn minimum(x: Value, y: Value) -> Value {
  return {{ smaller }};
}

fn divide_by(x: Value, n: u32) -> Value {
  return {{ quotient }};
}

// log(sum(exp)) so far as (largest, sum of exp(x - largest)).
fn merge_exponentials(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
  let largest = max_or_nan(a.x, b.x);
  let left = select(exp(a.x - largest), 1.0, a.x == largest);
  let right = select(exp(b.x - largest), 1.0, b.x == largest);
  return vec2<f32>(largest, a.y * left + b.y * right);
}

fn finish_exponentials(a: vec2<f32>) -> f32 {
  return select(a.x + natural_log(a.y), a.x, is_inf(a.x));
}

const NO_INDEX = 0xffffffffu;

// The winner so far and where it is.
struct Candidate {
  value: Value,
  index: u32,
}

fn value_is_nan(x: Value) -> bool {
  return {{ nan_test }};
}

// numpy's order: NaN wins over everything; of equals the first wins, or the last.
fn better(a: Candidate, b: Candidate, largest: bool, last: bool) -> Candidate {
  if (a.index == NO_INDEX || b.index == NO_INDEX) {
    return Candidate(select(a.value, b.value, a.index == NO_INDEX), min(a.index, b.index));
  }
  let a_nan = value_is_nan(a.value);
  let b_nan = value_is_nan(b.value);
  let smaller = b.value < a.value;
  let greater = b.value > a.value;
  var second = !a_nan && (b_nan || select(smaller, greater, largest));
  if ((a_nan && b_nan) || (!a_nan && !b_nan && a.value == b.value)) {
    second = (b.index > a.index) == last;
  }
  return Candidate(select(a.value, b.value, second), select(a.index, b.index, second));
}
