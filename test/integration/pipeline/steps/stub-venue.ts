import type { Venue } from '../../../../src/wager/venue.ts';

/** A venue that answers the stubbed calls only; any other call throws. */
export function stubVenue(answers: Partial<Venue> & Pick<Venue, 'name'>): Venue {
  const unasked = (call: string) => () => Promise.reject(new Error(`${answers.name}: ${call} was not to be called`));
  return {
    asset: 'USD',
    sameBook: [answers.name],
    listMarkets: unasked('markets'),
    getQuote: unasked('quote'),
    placeOrder: unasked('place'),
    findFill: unasked('find'),
    findWinner: unasked('winner'),
    settleOrder: unasked('settle'),
    getAccount: unasked('account'),
    ...answers,
  };
}
