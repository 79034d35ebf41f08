import type { z } from 'zod';

/** The short form of a skill's output, for readers with little room: fewer of its members, by the same names and types. */
export interface Outline {
  schema: z.ZodObject;
  /** Shortens the lists of an output, before its other members are dropped. */
  cut?(output: Record<string, unknown>): Record<string, unknown>;
}

/** @throws ZodError for an output without a member of the outline */
export function toOutline({ schema, cut }: Outline, output: Record<string, unknown>): Record<string, unknown> {
  return schema.parse(cut === undefined ? output : cut(output));
}

/** Declares an outline; the output types `cut`. */
export function defineOutline<Output extends z.ZodObject>(
  _output: Output,
  outline: { schema: z.ZodObject; cut?(output: z.input<Output>): object },
): Outline {
  return outline as unknown as Outline;
}
