/**
 * Where what was known on a day of the past comes from: `collected`, kept as it was first seen since there is this service; `made`, a
 * market that is made up and never revised; `none`, the same data as the whole history, in which earlier revisions cannot show.
 */
export const VINTAGES = ['collected', 'made', 'none'] as const;

export type Vintages = (typeof VINTAGES)[number];
