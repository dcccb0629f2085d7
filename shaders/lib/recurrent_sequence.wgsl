// Frame of the kernels that run a whole sequence (or a piece of it) in one dispatch: the recurrent
// weights stay in registers, the state in workgroup memory. A cell's file fills in the blocks.
// Bindings: params; projected, weights, then what the node has of bias, peepholes, lengths,
// initial_h, initial_c; y, y_h, y_c, state (in this order).
// Grid: x and y = batch rows (linear), z = directions: a workgroup owns one row in one direction.
// Invocation (unit, segment) holds the weights of its unit's gates for one segment of the state;
// those of segment 0 own their unit: they finish its gates and write its results.
{% from 'lib/recurrent_dots.wgsl' import dots, total, publish with context %}
{% include 'lib/math.wgsl' %}
{% include 'lib/recurrent_activation.wgsl' %}
{% include 'lib/recurrent_layout.wgsl' %}
{% block equations %}{% endblock %}

{% set carried = "f32" %}
{% include 'lib/recurrent_bindings.wgsl' %}

var<workgroup> state: array<vec4<f32>, {{ segments * chunk }}>;
var<workgroup> fresh: array<f32, {{ segments * chunk * 4 }}>;  // zero behind the last unit
var<workgroup> parts: array<f32, {{ segments * gates * hidden }}>;
{% block memory %}{% endblock %}

fn weight(row: u32, quad: u32) -> vec4<f32> {
  if (quad < QUADS) {
    return vec4<f32>(weights[row * QUADS + quad]);
  }
  return vec4<f32>();
}

@compute @workgroup_size({{ segments * hidden }})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let row = params.first_row + group.y * groups.x + group.x;
  if (row >= params.end_row) {
    return;
  }
  let direction = group.z;
  let unit = local % HIDDEN;
  let segment = local / HIDDEN;
  let first = segment * {{ chunk }}u;
  let owner = segment == 0u;
{% for gate in range(gates) %}
{% for k in range(chunk) %}
  let w{{ gate }}_{{ k }} =
    weight((direction * GATES + {{ gate }}u) * HIDDEN + unit, first + {{ k }}u);
{% endfor %}
{% endfor %}
  let length = {{ "u32(lengths[row])" if at_lengths else "params.steps" }};
  let stop = min(params.end_step, length);
  let at = state_of(row, direction) * HIDDEN + unit;
  var h = 0.0;
  var c = 0.0;
  // A trusted module finds what was there before: what lies behind the last unit must be zero.
  for (var i = HIDDEN + local; i < {{ segments * chunk * 4 }}u; i += {{ segments * hidden }}u) {
    fresh[i] = 0.0;
  }
  if (owner) {
{% if start == "state" %}
    h = carried[at];
    {{ "c = carried[params.states * HIDDEN + at];" if has_cell else "" }}
{% else %}
    {{ "h = f32(initial_h[at]);" if at_initial_h else "" }}
    {{ "c = f32(initial_c[at]);" if at_initial_c else "" }}
{% endif %}
    fresh[unit] = h;
  }
{% block constants %}{% endblock %}
  {{- publish("state") }}
  // The inputs of the gates are read one step ahead: their latency hides behind the products.
  var next = vec4<f32>();
  if (owner && params.first_step < stop) {
    next = gate_inputs(time_of(params.first_step, length, direction), row, direction, unit);
  }
  for (var step = params.first_step; step < stop; step++) {
    let time = time_of(step, length, direction);
    let input = next;
    if (owner && step + 1u < stop) {
      next = gate_inputs(time_of(step + 1u, length, direction), row, direction, unit);
    }
{% block cell %}{% endblock %}
  {{- publish("state") }}
  }
  if (!owner) {
    return;
  }
{% if at_y %}
  for (var step = max(params.first_step, length); step < params.end_step; step++) {
    y[y_at(step, row, direction, unit)] = {{ element }}(0.0);
  }
{% endif %}
{% if finish == "state" %}
  carried[at] = h;
  {{ "carried[params.states * HIDDEN + at] = c;" if has_cell else "" }}
{% else %}
  {{ "y_h[at] = " ~ element ~ "(h);" if at_y_h else "" }}
  {{ "y_c[at] = " ~ element ~ "(c);" if at_y_c else "" }}
{% endif %}
}

fn gate_inputs(time: u32, row: u32, direction: u32, unit: u32) -> vec4<f32> {
  let from_x = projected_at(time, row, direction, unit);
  return vec4<f32>(
    projected[from_x], projected[from_x + HIDDEN], projected[from_x + 2u * HIDDEN],
    {{ "projected[from_x + 3u * HIDDEN]" if gates == 4 else "0.0" }});
}
