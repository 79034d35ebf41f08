export const OTEL_PACKAGES: Readonly<Record<string, string>>;
