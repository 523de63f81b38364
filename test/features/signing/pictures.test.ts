import { expect, test } from "vitest";
import { sniff } from "../../../server/features/signing/pictures.ts";
import { jpegOf, png } from "../../harness/pictures.ts";

test("types by their first bytes", () => {
  expect(sniff(Buffer.from("%PDF-1.7"))).toBe("application/pdf");
  expect(sniff(png(1, 1))).toBe("image/png");
  expect(sniff(jpegOf(0xc0, 1, 1))).toBe("image/jpeg");
  expect(sniff(Buffer.from("RIFF\0\0\0\0WEBPVP8 ", "latin1"))).toBe("image/webp");
  expect(sniff(Buffer.from("<html>"))).toBeUndefined();
  expect(sniff(Buffer.alloc(0))).toBeUndefined();
});
