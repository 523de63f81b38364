import { Button, FileButton, SegmentedControl, TextInput } from "@mantine/core";
import { useRef, useState } from "react";
import type { SignatureInput, SigningView } from "../../../../server/features/signing/contract.ts";
import { signatureFonts } from "../../../../server/features/signing/contract.ts";
import { translator } from "../../i18n.ts";
import { Dialog } from "../kit/Dialog.tsx";
import { DrawPad, type Pad, type Strokes } from "./DrawPad.tsx";
import { pictureOf } from "./image.ts";
import { SignaturePicture } from "./SignaturePicture.tsx";

type Method = SigningView["signature"]["methods"][number];
type Font = (typeof signatureFonts)[number];
type Props = {
  kind: "signature" | "initials";
  methods: readonly Method[];
  fonts: readonly string[];
  /** What a typed signature begins with. */
  name: string;
  /** One that this person keeps for such documents. */
  saved?: SignatureInput | null;
  before: SignatureInput | null;
  onClose: () => void;
  onSave: (signature: SignatureInput) => void;
};

/** Makes a signature or initials: drawn, typed or from a picture. Typing is the way that needs no pointer. */
export function SignatureDialog({ kind, methods, fonts: allowed, name, saved = null, before, onClose, onSave }: Props) {
  const t = translator("sign");
  const [method, setMethod] = useState<Method>(before?.method ?? methods[0] ?? "type");
  const [text, setText] = useState(
    before?.method === "type" ? before.text : kind === "initials" ? initialsOf(name) : name,
  );
  const fonts = signatureFonts.filter((font) => allowed.includes(font));
  const [font, setFont] = useState<Font>(before?.method === "type" ? before.font : (fonts[0] ?? signatureFonts[0]));
  const [picture, setPicture] = useState<string | null>(before?.method === "upload" ? before.image : null);
  const [empty, setEmpty] = useState(true);
  const [failed, setFailed] = useState(false);
  const pad = useRef<Pad>(null);
  const strokes = useRef<Strokes>([]);
  const reset = useRef<() => void>(null);

  const take = async (file: File | null) => {
    // Else the browser says nothing when the same file is chosen once more.
    reset.current?.();
    if (!file) return;
    try {
      setPicture(await pictureOf(file));
      setFailed(false);
    } catch {
      setFailed(true);
    }
  };
  const made = (): SignatureInput | null => {
    if (method === "type") return text.trim() ? { method, text: text.trim(), font } : null;
    const image = method === "draw" ? (pad.current?.image() ?? null) : picture;
    return image ? { method, image } : null;
  };
  const ready = method === "type" ? text.trim() !== "" : method === "draw" ? !empty : picture !== null;
  const save = () => {
    const signature = made();
    if (signature) onSave(signature);
  };
  return (
    <Dialog
      opened
      onClose={onClose}
      title={t(kind === "initials" ? "signature.initialsTitle" : "signature.title")}
      centered
      size="lg"
    >
      {saved && methods.includes(saved.method) && (
        <button type="button" className="saved-signature" onClick={() => onSave(saved)}>
          <SignaturePicture signature={saved} width={230} height={64} />
          <span>{t("signature.useSaved")}</span>
        </button>
      )}
      {methods.length > 1 && (
        <SegmentedControl
          fullWidth
          aria-label={t("signature.method")}
          value={method}
          onChange={(value) => setMethod(value as Method)}
          data={methods.map((value) => ({ value, label: t(`signature.${value}`) }))}
          mb="md"
        />
      )}
      {method === "draw" && <DrawPad ref={pad} strokes={strokes} onEmpty={setEmpty} />}
      {method === "type" && (
        <>
          <TextInput
            data-autofocus
            label={t(kind === "initials" ? "signature.yourInitials" : "signature.yourName")}
            value={text}
            maxLength={100}
            onChange={(event) => setText(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && ready) save();
            }}
          />
          <fieldset className="faces">
            <legend className="spoken">{t("signature.face")}</legend>
            {fonts.map((face) => (
              <label key={face} data-chosen={face === font || undefined}>
                <input
                  type="radio"
                  name="face"
                  checked={face === font}
                  onChange={() => setFont(face)}
                  aria-label={face}
                />
                <SignaturePicture
                  signature={{ method: "type", text: text.trim() || "…", font: face }}
                  width={230}
                  height={64}
                />
              </label>
            ))}
          </fieldset>
        </>
      )}
      {method === "upload" && (
        <div className="upload">
          {picture ? (
            <img src={picture} alt={t("signature.preview")} />
          ) : (
            <p className="soft">{t("signature.uploadHint")}</p>
          )}
          <FileButton resetRef={reset} accept="image/png,image/jpeg,image/webp" onChange={(file) => void take(file)}>
            {(props) => (
              <Button variant="default" {...props}>
                {t(picture ? "signature.other" : "signature.pick")}
              </Button>
            )}
          </FileButton>
          {failed && (
            <p role="alert" className="bad">
              {t("signature.unreadable")}
            </p>
          )}
        </div>
      )}
      <p className="fine">{t("signature.meaning")}</p>
      <div className="actions">
        <Button variant="default" onClick={onClose}>
          {translator("common")("cancel")}
        </Button>
        <Button disabled={!ready} onClick={save}>
          {t(kind === "initials" ? "signature.useInitials" : "signature.use")}
        </Button>
      </div>
    </Dialog>
  );
}

/** First letters of the first and last part of a name. */
function initialsOf(name: string): string {
  const parts = name.trim().split(/\s+/);
  const letters = parts.length > 1 ? [parts[0], parts.at(-1)] : [parts[0]];
  return letters
    .map((part) => [...(part ?? "")][0] ?? "")
    .join("")
    .toLocaleUpperCase();
}
