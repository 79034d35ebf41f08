export function useOneByteSources(): void;
export function toOneByte<Source extends string | ArrayBuffer | NodeJS.TypedArray | null | undefined>(source: Source): Source | string;
