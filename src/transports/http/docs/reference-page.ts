import { IDENTITY } from '../../../../agent-card/identity.ts';
import { escapeHtml } from '../server/replies/escape-html.ts';

/** Where things of this page are, under the path that the service is reached at. */
interface ReferencePageOptions {
  publicUrl: string;
}

/** Everything comes from this service; trying an operation out calls the address that the document names. */
export function buildReferenceCsp({ publicUrl }: ReferencePageOptions): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    // The library sets styles of its elements.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    `connect-src 'self' ${new URL(publicUrl).origin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** The page that shows the reference. */
export function renderReferencePage({ publicUrl }: ReferencePageOptions): string {
  const base = escapeHtml(getBasePath(publicUrl));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(IDENTITY.name)}: API reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${base}/docs/swagger-ui.css">
</head>
<body>
<div id="reference"></div>
<noscript>This page needs JavaScript. The same is in <a href="${base}/.well-known/openapi.json">openapi.json</a>.</noscript>
<script src="${base}/docs/swagger-ui-bundle.js"></script>
<script src="${base}/docs/initializer.js"></script>
</body>
</html>
`;
}

/** Starts the viewer; no other host is asked for anything. */
export function renderInitializerScript({ publicUrl }: ReferencePageOptions): string {
  const options = {
    url: `${getBasePath(publicUrl)}/.well-known/openapi.json`,
    deepLinking: true,
    displayOperationId: true,
    displayRequestDuration: true,
    defaultModelsExpandDepth: 0,
    docExpansion: 'list',
    persistAuthorization: false,
    // Unset, the viewer would send the document to a validator elsewhere.
    validatorUrl: null,
  };
  return `SwaggerUIBundle({ ...${JSON.stringify(options)}, domNode: document.getElementById('reference'), presets: [SwaggerUIBundle.presets.apis], layout: 'BaseLayout' });\n`;
}

/** Without a slash at its end; empty for a service at the root of its host. */
function getBasePath(publicUrl: string): string {
  return new URL(publicUrl).pathname.replace(/\/+$/, '');
}
