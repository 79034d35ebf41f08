import { createHostCheck, createPageOriginCheck, type OriginRules } from './origin-rules.ts';

export interface RequestSource {
  host: string | undefined;
  origin: string | undefined;
}

/** Refuses what comes under a name that is not the service's, or from a page of somebody else's. @throws OracleError ORIGIN_REFUSED */
export function createOriginCheck(rules: OriginRules): (names: RequestSource) => void {
  const checkHost = createHostCheck(rules);
  const checkPage = createPageOriginCheck(rules);
  return ({ host, origin }) => {
    checkHost(host);
    checkPage(origin);
  };
}
