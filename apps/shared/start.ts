import { z } from "zod";

/** Must be the first import of every page: zod may not try `new Function`, which the content security policy forbids. */
z.config({ jitless: true });

const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";

/** The nonce of this response, for style elements that are made at run time. */
export const styleNonce = () => nonce;

// The scroll lock of dialogs reads its nonce from this name.
Object.assign(globalThis, { __webpack_nonce__: nonce });
