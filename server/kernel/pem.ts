import { X509Certificate } from "node:crypto";

/** DER of every certificate in a PEM text. @throws Error when one cannot be read */
export function certificatesIn(pem: string): Uint8Array[] {
  return (pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map(derOf);
}

/** @throws Error when the PEM is no certificate */
export function derOf(pem: string): Uint8Array {
  return new X509Certificate(pem).raw;
}
