/** A part of a list. */
export interface Page {
  limit: number;
  /** How many to pass over. */
  offset: number;
}
