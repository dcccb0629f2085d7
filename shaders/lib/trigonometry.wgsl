// Sine, cosine and tangent in f32 for arguments of any size, to a few units in the last place.
// Needs lib/math.wgsl and nan_unless of lib/elementary.wgsl before it. The polynomials are those
// of the Cephes library.

// x less a multiple of pi / 2, within +-pi / 4, and that multiple modulo 4.
struct Quarter {
  rest: f32,
  turn: u32,
}

// 2 / pi after the point, 32 bits a word, behind a word of zeros.
const TWO_OVER_PI = array<u32, 8>(0u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u,
  0xdb629599u, 0x3c439041u, 0xfe5163abu);

// The upper word of x * y, for x below 2^24.
fn multiply_high(x: u32, y: u32) -> u32 {
  let carry = (x & 0xffffu) * (y & 0xffffu) >> 16u;
  let middle = (x >> 16u) * (y & 0xffffu) + carry;
  let upper = (x & 0xffffu) * (y >> 16u) + (middle & 0xffffu);
  return (x >> 16u) * (y >> 16u) + (middle >> 16u) + (upper >> 16u);
}

// Payne and Hanek's reduction for |x| >= 4096: the bits of 2 / pi that matter, times the mantissa.
fn reduce_large(x: f32) -> Quarter {
  let bits = bitcast<u32>(x);
  let mantissa = (bits & 0x7fffffu) | 0x800000u;
  let start = ((bits >> 23u) & 0xffu) - 120u;
  var table = TWO_OVER_PI;
  var window: array<u32, 3>;
  for (var i = 0u; i < 3u; i++) {
    let word = (start >> 5u) + i;
    let shift = start & 31u;
    let next = select(0u, table[min(word + 1u, 7u)] >> (32u - max(shift, 1u)), shift > 0u);
    window[i] = (table[min(word, 7u)] << shift) | next;
  }
  let middle_low = mantissa * window[1];
  let middle = middle_low + multiply_high(mantissa, window[2]);
  let carry = u32(middle < middle_low);
  let high = mantissa * window[0] + multiply_high(mantissa, window[1]) + carry;
  // Two bits of turn, then the fraction; from one half on it belongs to the next turn.
  let fraction = (high << 2u) | (middle >> 30u);
  let turn = (high >> 30u) + (fraction >> 31u);
  let part = f32(bitcast<i32>(fraction)) + f32(middle << 2u) * 2.3283064e-10;
  let rest = part * 2.3283064e-10 * 1.57079633;
  let negative = x < 0.0;
  return Quarter(select(rest, -rest, negative), select(turn, 0u - turn, negative) & 3u);
}

// pi / 2 in three parts, the first two short enough for exact products.
fn reduce_quarter(x: f32) -> Quarter {
  if (abs(x) >= 4096.0) {
    return reduce_large(x);
  }
  let n = round(x * 0.636619772);
  let rest = ((x - n * 1.5703125) - n * 4.837512969970703125e-4) - n * 7.549789948768648e-8;
  return Quarter(rest, u32(i32(n)) & 3u);
}

fn sine_core(x: f32) -> f32 {
  let z = x * x;
  return x + x * z * ((-1.9515295891e-4 * z + 8.3321608736e-3) * z - 1.6666654611e-1);
}

fn cosine_core(x: f32) -> f32 {
  let z = x * x;
  return 1.0 - 0.5 * z + z * z * ((2.443315711809948e-5 * z - 1.388731625493765e-3) * z
    + 4.166664568298827e-2);
}

fn sine(x: f32) -> f32 {
  let q = reduce_quarter(x);
  let value = select(sine_core(q.rest), cosine_core(q.rest), (q.turn & 1u) == 1u);
  return nan_unless(is_finite(x), select(value, -value, q.turn >= 2u));
}

fn cosine(x: f32) -> f32 {
  let q = reduce_quarter(x);
  let value = select(cosine_core(q.rest), sine_core(q.rest), (q.turn & 1u) == 1u);
  return nan_unless(is_finite(x), select(value, -value, q.turn == 1u || q.turn == 2u));
}

fn tangent(x: f32) -> f32 {
  let q = reduce_quarter(x);
  let s = sine_core(q.rest);
  let c = cosine_core(q.rest);
  return nan_unless(is_finite(x), select(s / c, -c / s, (q.turn & 1u) == 1u));
}
