/**
 * Origin of point-in-time data: `collected`, stored by the service as first seen; `made`, a simulated market that is never revised;
 * `none`, the final history, which hides revisions.
 */
export const VINTAGES = ['collected', 'made', 'none'] as const;
export type Vintages = (typeof VINTAGES)[number];
