import { hostCheck, type OriginRules, pageCheck } from '../origins.ts';

export interface RequestNames {
  host: string | undefined;
  origin: string | undefined;
}

/** Refuses what comes under a name that is not the service's, or from a page of somebody else's. @throws OracleError ORIGIN_REFUSED */
export function createOriginCheck(rules: OriginRules): (names: RequestNames) => void {
  const checkHost = hostCheck(rules);
  const checkPage = pageCheck(rules);
  return ({ host, origin }) => {
    checkHost(host);
    checkPage(origin);
  };
}
