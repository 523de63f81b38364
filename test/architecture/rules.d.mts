type Place = { path?: string | string[]; pathNot?: string | string[] };

export declare const edges: Readonly<Record<string, readonly string[]>>;

declare const configuration: { forbidden: readonly { name: string; from: Place; to: Place }[] };
export default configuration;
