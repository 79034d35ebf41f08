/** Kinds of pages, which the body names in `data-page`: the script mounts the parts of that kind. */
export const PAGE_KINDS = ['access', 'consent', 'dashboard', 'document', 'forecast', 'forecasts', 'reference', 'widget'] as const;

export type PageKind = (typeof PAGE_KINDS)[number];
