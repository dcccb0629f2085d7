// Frame of the kernels that run one time step in one dispatch. A cell's file fills in the blocks.
// Bindings: params; projected, weights, then what the node has of bias, peepholes, lengths; y, y_h,
// y_c, carried, scaled (in this order). ``carried`` holds the state twice: a step reads half
// step % 2 and writes the other; each half is h and, for an LSTM, c. A GRU that resets before the
// product takes two passes: "gates" leaves the update gate and the scaled state in ``scaled``,
// "candidate" goes on from there.
// Behind the states each workgroup counts its own steps, so that all dispatches of a sequence are
// the same and nothing is bound between them.
// Grid: x = groups of ``units``, y = groups of ``rows`` batch rows, z = directions.
// Each of a unit's ``lanes`` takes every lanes-th quad of the state, for all rows; then lane
// n < rows owns the unit in row n: it finishes the gates and writes the results. 4 * rows <= lanes.
{% set both = pass == "gates" or has_cell %}
{% include 'lib/math.wgsl' %}
{% include 'lib/recurrent_activation.wgsl' %}
{% include 'lib/recurrent_layout.wgsl' %}
{% block equations %}{% endblock %}

{% set carried = "vec4<f32>" %}
{% include 'lib/recurrent_bindings.wgsl' %}
{% if at_scaled %}
@group(0) @binding({{ at_scaled }}) var<storage, read_write> scaled: array<vec4<f32>>;
{% endif %}

var<workgroup> parts: array<f32, {{ rows * products * units * lanes }}>;
var<workgroup> folded: array<f32, {{ rows * products * units * 4 }}>;
var<workgroup> fresh: array<f32, {{ rows * units * 2 }}>;  // two results per unit

fn carried_at(half: u32, part: u32, row: u32, direction: u32) -> u32 {
  let states = (half * {{ 2 if has_cell else 1 }}u + part) * params.states;
  return (states + state_of(row, direction)) * QUADS;
}

// Where a workgroup keeps the number of its next step (in x, exact to 2^24).
fn counter_at(group: vec3<u32>, across: u32) -> u32 {
  let row_group = params.first_row / {{ rows }}u + group.y;
  let counter = (row_group * {{ directions }}u + group.z) * across + group.x;
  return {{ 4 if has_cell else 2 }}u * params.states * QUADS + counter;
}

// Part 0: the update gate, part 1: the state times the reset gate.
fn scaled_at(part: u32, row: u32, direction: u32) -> u32 {
  return (part * params.states + state_of(row, direction)) * QUADS;
}

// The finished product of a gate for the unit and row that this lane owns.
fn total(slot: u32, gate: u32, lane: u32) -> f32 {
  let at = ((slot * {{ products }}u + gate) * {{ rows }}u + lane) * 4u;
  return (folded[at] + folded[at + 1u]) + (folded[at + 2u] + folded[at + 3u]);
}

// Whole vec4s are stored: WGSL lets a store to one component touch the other three.
fn fresh_quad(at: u32) -> vec4<f32> {
  return vec4<f32>(fresh[at], fresh[at + 1u], fresh[at + 2u], fresh[at + 3u]);
}

@compute @workgroup_size({{ units * lanes }})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let lane = local % {{ lanes }}u;
  let slot = local / {{ lanes }}u;
  let unit = group.x * {{ units }}u + slot;
  let safe_unit = min(unit, HIDDEN - 1u);
  let direction = group.z;
  let counter = counter_at(group, groups.x);
  let step = u32(carried[counter].x);
  let half = step % 2u;
  let first_row = params.first_row + group.y * {{ rows }}u;
  let last_row = params.end_row - 1u;

  // What an owner needs is read first: its latency hides behind the products.
  let row = min(first_row + min(lane, {{ rows - 1 }}u), last_row);
  let owner = lane < {{ rows }}u && first_row + lane < params.end_row && unit < HIDDEN;
  let length = {{ "u32(lengths[row])" if at_lengths else "params.steps" }};
  let time = time_of(step, length, direction);
  var input = vec4<f32>();
  var old_h = 0.0;
  var old_c = 0.0;
  if (owner) {
    let from_x = projected_at(time, row, direction, unit);
{% for gate in range(products) %}
    input[{{ gate }}] = projected[from_x + {{ first_gate + gate }}u * HIDDEN];
{% endfor %}
    old_h = carried[carried_at(half, 0u, row, direction) + unit / 4u][unit % 4u];
{% if has_cell %}
    old_c = carried[carried_at(half, 1u, row, direction) + unit / 4u][unit % 4u];
{% endif %}
  }

{% for n in range(rows) %}
{% if pass == "candidate" %}
  let from{{ n }} = scaled_at(1u, min(first_row + {{ n }}u, last_row), direction);
{% else %}
  let from{{ n }} = carried_at(half, 0u, min(first_row + {{ n }}u, last_row), direction);
{% endif %}
{% for gate in range(products) %}
  var dot{{ gate }}_{{ n }} = 0.0;
{% endfor %}
{% endfor %}
  for (var quad = lane; quad < QUADS; quad += {{ lanes }}u) {
{% for gate in range(products) %}
    let row{{ gate }} = (direction * GATES + {{ first_gate + gate }}u) * HIDDEN + safe_unit;
    let w{{ gate }} = vec4<f32>(weights[row{{ gate }} * QUADS + quad]);
{% endfor %}
{% for n in range(rows) %}
    let v{{ n }} = {{ "scaled" if pass == "candidate" else "carried" }}[from{{ n }} + quad];
{% for gate in range(products) %}
    dot{{ gate }}_{{ n }} += dot(w{{ gate }}, v{{ n }});
{% endfor %}
{% endfor %}
  }
{% for n in range(rows) %}
{% for gate in range(products) %}
  parts[{{ (n * products + gate) * units * lanes }}u + local] = dot{{ gate }}_{{ n }};
{% endfor %}
{% endfor %}
  workgroupBarrier();
  if (lane < {{ rows * 4 }}u) {
{% for gate in range(products) %}
    let at{{ gate }} = (lane / 4u * {{ products }}u + {{ gate }}u) * {{ units * lanes }}u
      + slot * {{ lanes }}u + lane % 4u;
    folded[(slot * {{ products }}u + {{ gate }}u) * {{ rows * 4 }}u + lane] =
{% for j in range(0, lanes, 4) %}
      parts[at{{ gate }} + {{ j }}u] {{ ";" if loop.last else "+" }}
{% endfor %}
{% endfor %}
  }
  workgroupBarrier();

  var result = vec2<f32>();  // h and c, or what the pass "gates" leaves
  if (owner) {
{% block cell %}{% endblock %}
{% if pass != "gates" %}
    if (step >= length) {
      result = vec2<f32>(old_h, old_c);
    }
{% if at_y %}
    y[y_at(time, row, direction, unit)] = {{ element }}(select(0.0, result.x, step < length));
{% endif %}
    if (step + 1u == max(length, 1u)) {
      let at = state_of(row, direction) * HIDDEN + unit;
      {{ "y_h[at] = " ~ element ~ "(result.x);" if at_y_h else "" }}
      {{ "y_c[at] = " ~ element ~ "(result.y);" if at_y_c else "" }}
    }
{% endif %}
  }
  if (lane < {{ rows }}u) {
    fresh[lane * {{ units }}u + slot] = result.x;
    {{ "fresh[(lane + %du) * %du + slot] = result.y;" % (rows, units) if both else "" }}
  }
  workgroupBarrier();
  let target_row = first_row + local / {{ units // 4 }}u;
  let quad = group.x * {{ units // 4 }}u + local % {{ units // 4 }}u;
  if (local < {{ rows * units // 4 }}u && target_row < params.end_row && quad < QUADS) {
{% if pass == "gates" %}
    scaled[scaled_at(0u, target_row, direction) + quad] = fresh_quad(local * 4u);
    scaled[scaled_at(1u, target_row, direction) + quad] =
      fresh_quad(local * 4u + {{ rows * units }}u);
{% else %}
    carried[carried_at(1u - half, 0u, target_row, direction) + quad] = fresh_quad(local * 4u);
{% if has_cell %}
    carried[carried_at(1u - half, 1u, target_row, direction) + quad] =
      fresh_quad(local * 4u + {{ rows * units }}u);
{% endif %}
{% endif %}
  }
{% if pass != "gates" %}
  if (local == 0u) {  // every invocation has read it: barriers lie between
    carried[counter] = vec4<f32>(f32(step + 1u), 0.0, 0.0, 0.0);
  }
{% endif %}
}
