import fc from 'fast-check';
import { expect, it } from 'vitest';
import { selectInPlace } from '../../../../src/forecast/math/select.ts';

const value = fc.oneof(fc.double({ noNaN: true }), fc.integer({ min: -3, max: 3 }));

it('puts a value where sorting puts it, with none larger before it and none smaller after it', () => {
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 80 }), fc.nat(), (values, choice) => {
      const index = choice % values.length;
      const selected = Float64Array.from(values);
      const sorted = selected.toSorted();
      selectInPlace(selected, index);
      expect(selected[index] === sorted[index]).toBe(true);
      expect(selected.slice(0, index).every((before) => before <= selected[index])).toBe(true);
      expect(selected.slice(index).every((after) => after >= selected[index])).toBe(true);
      selectInPlace(selected, index + 1, index + 1);
      expect(selected[index + 1] === sorted[index + 1]).toBe(true);
      expect(selected.toSorted()).toEqual(sorted);
    }),
    { numRuns: 500 },
  );
});
