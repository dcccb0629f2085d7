// 64-bit integers as two words, (low, high). Needs nothing.

fn less_unsigned(x: vec2<u32>, y: vec2<u32>) -> bool {
  return x.y < y.y || (x.y == y.y && x.x < y.x);
}

fn less_signed(x: vec2<u32>, y: vec2<u32>) -> bool {
  let sign_bit = vec2<u32>(0u, 0x80000000u);
  return less_unsigned(x ^ sign_bit, y ^ sign_bit);
}

fn negate_int64(x: vec2<u32>) -> vec2<u32> {
  return vec2<u32>(~x.x + 1u, ~x.y + u32(x.x == 0u));
}

// The nearest i32.
fn saturated_int32(x: vec2<u32>) -> i32 {
  let low = bitcast<i32>(x.x);
  let high = bitcast<i32>(x.y);
  return select(select(0x7fffffff, i32(-2147483648), high < 0), low, high == low >> 31u);
}

// The nearest f32, ties to even: 24 bits are kept and a sticky bit stands for the rest.
fn unsigned_to_f32(x: vec2<u32>) -> f32 {
  if (x.y == 0u) {
    return f32(x.x);
  }
  let shift = 32u - countLeadingZeros(x.y);
  let kept = select((x.y << (32u - shift)) | (x.x >> (shift & 31u)), x.y, shift == 32u);
  let lost = select(x.x << (32u - shift), x.x, shift == 32u);
  return ldexp(f32(kept | u32(lost != 0u)), i32(shift));
}

fn signed_to_f32(x: vec2<u32>) -> f32 {
  if ((x.y >> 31u) == 1u) {
    return -unsigned_to_f32(negate_int64(x));
  }
  return unsigned_to_f32(x);
}

// Towards zero, for |x| below 2^64: the bits of an unsigned or, where it fits, a signed integer.
fn f32_to_int64(x: f32) -> vec2<u32> {
  let bits = bitcast<u32>(x);
  let exponent = i32((bits >> 23u) & 0xffu) - 150;
  if (exponent >= 41) {
    return vec2<u32>(0u, 0x80000000u);
  }
  let mantissa = (bits & 0x7fffffu) | 0x800000u;
  var result = vec2<u32>(0u, 0u);
  if (exponent <= 0) {
    result.x = select(mantissa >> u32(min(-exponent, 31)), 0u, exponent < -23);
  } else if (exponent < 32) {
    result = vec2<u32>(mantissa << u32(exponent), mantissa >> u32(32 - exponent));
  } else {
    result.y = mantissa << u32(exponent - 32);
  }
  if ((bits >> 31u) == 1u) {
    return negate_int64(result);
  }
  return result;
}
