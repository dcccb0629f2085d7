// Softmax and its kin, one workgroup for each row.
// Bindings: 0 params, 1 source, 2 target (outer, extent, inner). Grid: outer * inner workgroups.
{% include 'lib/grid.wgsl' %}
{% include 'lib/math.wgsl' %}
{% include 'lib/softmax.wgsl' %}

const SIZE = {{ group_size }}u;

var<workgroup> values: array<f32, SIZE>;
var<workgroup> places: array<u32, SIZE>;

@compute @workgroup_size({{ group_size }})
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  // A group beyond the last repeats its row: barriers need every invocation.
  let start = row_start(min(linear_index(group, groups, 0u, 1u), params.count - 1u));

  var largest = -infinity();
  var first = 0xffffffffu;
  for (var k = local; k < params.extent; k += SIZE) {
    let x = load(start, k);
    first = select(first, k, x > largest || first == 0xffffffffu);
    largest = max_or_nan(largest, x);
  }
  values[local] = largest;
  places[local] = first;
  workgroupBarrier();
  for (var half = SIZE / 2u; half > 0u; half /= 2u) {
    if (local < half) {
      let mine = values[local];
      let other = values[local + half];
      let earlier = min(places[local], places[local + half]);
      places[local] = select(select(places[local], places[local + half], other > mine), earlier,
        other == mine);
      values[local] = max_or_nan(mine, other);
    }
    workgroupBarrier();
  }
  largest = values[0];
  first = places[0];
  workgroupBarrier();

  var total = 0.0;
  for (var k = local; k < params.extent; k += SIZE) {
    total += exp(load(start, k) - largest);
  }
  values[local] = total;
  workgroupBarrier();
  for (var half = SIZE / 2u; half > 0u; half /= 2u) {
    if (local < half) {
      values[local] += values[local + half];
    }
    workgroupBarrier();
  }
  total = values[0];

  for (var k = local; k < params.extent; k += SIZE) {
    store(start, k, largest, total, first);
  }
}
