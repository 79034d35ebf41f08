import { IDENTITY } from '../../../../agent-card/identity.ts';
import { escapeHtml } from '../server/replies/escape-html.ts';

interface ReferencePageOptions {
  publicUrl: string;
}

/** All resources come from this origin; "Try it out" calls the server URL of the document. */
export function buildReferenceCsp({ publicUrl }: ReferencePageOptions): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    // Swagger UI sets inline styles.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    `connect-src 'self' ${new URL(publicUrl).origin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

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

/** Script that starts Swagger UI without requests to other hosts. */
export function renderInitializerScript({ publicUrl }: ReferencePageOptions): string {
  const options = {
    url: `${getBasePath(publicUrl)}/.well-known/openapi.json`,
    deepLinking: true,
    displayOperationId: true,
    displayRequestDuration: true,
    defaultModelsExpandDepth: 0,
    docExpansion: 'list',
    persistAuthorization: false,
    // The default sends the document to a validator of another host.
    validatorUrl: null,
  };
  return `SwaggerUIBundle({ ...${JSON.stringify(options)}, domNode: document.getElementById('reference'), presets: [SwaggerUIBundle.presets.apis], layout: 'BaseLayout' });\n`;
}

/** Path of the public URL without a trailing slash; empty at the root of a host. */
function getBasePath(publicUrl: string): string {
  return new URL(publicUrl).pathname.replace(/\/+$/, '');
}
