/** A part of a list. */
export interface Pagination {
  limit: number;
  /** How many to pass over. */
  offset: number;
}
