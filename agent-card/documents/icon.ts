import { IDENTITY } from '../identity.ts';

/** A price line that fans out into an unknown future. */
export const ICON_SVG = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" role="img" aria-label="${IDENTITY.name}">
<rect width="64" height="64" rx="14" fill="#14181f"/>
<path d="M8 44 18 34 27 40 38 24" fill="none" stroke="#f7931a" stroke-width="4" stroke-linecap="round" stroke-linejoin="round"/>
<path d="M38 24 56 12V40Z" fill="#f7931a" fill-opacity=".35"/>
<circle cx="38" cy="24" r="4" fill="#fff"/>
</svg>
`;
