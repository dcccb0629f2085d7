// Minimum, maximum, NaN and Inf counts of one tensor, gathered into one row of four words.
// Bindings: x (the tensor), rows (all rows of the run, zero at the start).
// Grid: one invocation per {{ ITEMS }} elements, strided by the number of invocations.
struct Params {
  size: u32,
  row: u32,
  threads: u32,
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<{{ T }}>;
@group(0) @binding(2) var<storage, read_write> rows: array<atomic<u32>>;

{% include 'lib/grid.wgsl' %}
{% include 'lib/math.wgsl' %}

// Orders floats as unsigned integers; 0 stands for "none".
fn key(v: f32) -> u32 {
  let bits = bitcast<u32>(v);
  return select(bits | 0x80000000u, ~bits, (bits & 0x80000000u) != 0u);
}

@compute @workgroup_size({{ GROUP_SIZE }})
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let thread = linear_index(group, groups, local, {{ GROUP_SIZE }}u);
  if (thread >= params.threads) {
    return;
  }
  var high = 0u;
  var low = 0u;
  var nans = 0u;
  var infs = 0u;
  for (var i = thread; i < params.size; i += params.threads) {
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
