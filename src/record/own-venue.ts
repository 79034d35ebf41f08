/** True for the paper venue, whose quotes and settlements the service makes itself: results against it prove nothing. */
export function isOwnVenue(venue: string): boolean {
  return venue === 'paper';
}
