// Minimum, maximum, NaN and Inf counts of one tensor, gathered into one row of four words.
// Bindings: x (the tensor), rows (all rows of the run, zero at the start).
// Grid: one invocation per {{ ITEMS }} elements, strided by the number of invocations.
struct Params {
  size: u32,
  row: u32,
  count: u32,  // of invocations
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<{{ T }}>;
@group(0) @binding(2) var<storage, read_write> rows: array<atomic<u32>>;

{% include 'lib/items.wgsl' %}
{% include 'lib/math.wgsl' %}

// Orders floats as unsigned integers; 0 stands for "none".
fn key(v: f32) -> u32 {
  let bits = bitcast<u32>(v);
  return select(bits | 0x80000000u, ~bits, (bits & 0x80000000u) != 0u);
}

fn run_item(thread: u32) {
  var high = 0u;
  var low = 0u;
  var nans = 0u;
  var infs = 0u;
  for (var i = thread; i < params.size; i += params.count) {
    let v = f32(x[i]);
    if (is_nan(v)) {
      nans += 1u;
    } else if (is_inf(v)) {
      infs += 1u;
    } else {
      high = max(high, key(v));
      low = max(low, key(-v));
    }
  }
  let row = params.row * 4u;
  atomicMax(&rows[row], high);
  atomicMax(&rows[row + 1u], low);
  if (nans > 0u) {
    atomicAdd(&rows[row + 2u], nans);
  }
  if (infs > 0u) {
    atomicAdd(&rows[row + 3u], infs);
  }
}
