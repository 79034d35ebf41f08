import type { Venue } from '../../../src/wager/venue.ts';

/** A venue that answers what a test gives it an answer for; every other call is a mistake, and throws. */
export function stubVenue(answers: Partial<Venue> & Pick<Venue, 'name'>): Venue {
  const unasked = (call: string) => () => Promise.reject(new Error(`${answers.name}: ${call} was not to be called`));
  return {
    asset: 'USD',
    sameBook: [answers.name],
    markets: unasked('markets'),
    quote: unasked('quote'),
    place: unasked('place'),
    find: unasked('find'),
    winner: unasked('winner'),
    settle: unasked('settle'),
    account: unasked('account'),
    ...answers,
  };
}
