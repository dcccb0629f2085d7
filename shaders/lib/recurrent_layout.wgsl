// Where GRU and LSTM keep things. Rows are batch rows; direction 1 is the reverse half of a
// bidirectional node. Variables: hidden, gates, directions, reverse (direction 0 runs backwards).
const HIDDEN: u32 = {{ hidden }}u;
const QUADS: u32 = {{ (hidden + 3) // 4 }}u;  // vec4s that hold one state
const GATES: u32 = {{ gates }}u;
const PROJECTED: u32 = {{ directions * gates * hidden }}u;  // one row of the input projection

struct Params {
  first_step: u32,  // this dispatch does the steps [first_step, end_step)
  end_step: u32,
  first_row: u32,  // of the batch rows [first_row, end_row)
  end_row: u32,
  steps: u32,  // T
  x_time: u32,  // X and its projection: rows between steps, between batch rows
  x_row: u32,
  y_time: u32,  // Y: states between steps, between batch rows
  y_row: u32,
  state_row: u32,  // initial_h, Y_h and kin: states between batch rows
  direction: u32,  // Y, Y_h and kin: states between directions
  states: u32,  // directions * batch rows
}

// The step of X that a row reads as its number ``step``: backwards from its own last one.
fn time_of(step: u32, length: u32, direction: u32) -> u32 {
  let backwards = {{ "true" if reverse else "direction == 1u" }};
  return select(step, length - 1u - step, backwards && step < length);
}

fn projected_at(time: u32, row: u32, direction: u32, unit: u32) -> u32 {
  return (time * params.x_time + row * params.x_row) * PROJECTED
    + direction * GATES * HIDDEN + unit;
}

fn y_at(time: u32, row: u32, direction: u32, unit: u32) -> u32 {
  return (time * params.y_time + row * params.y_row + direction * params.direction) * HIDDEN + unit;
}

// The state's number in initial_h, Y_h and kin.
fn state_of(row: u32, direction: u32) -> u32 {
  return row * params.state_row + direction * params.direction;
}
