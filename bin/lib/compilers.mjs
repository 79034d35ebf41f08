import v8 from 'node:v8';

/**
 * Has V8 skip its middle compiler, Maglev. That of Node 24.21 now and then keeps number fields of two objects in one box, and a figure is
 * wrong in one process and right in the next. What runs often is compiled by TurboFan all the same.
 */
export function avoidMaglev() {
  v8.setFlagsFromString('--no-maglev');
}
