import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { pdf } from "../../../../../server/kernel/wire.ts";
import { translator } from "../../../../shared/i18n.ts";
import { notify } from "../../../../shared/ui/kit/notify.tsx";
import { useCan } from "../../session.tsx";
import { drop, takeDropped } from "../send/document/dropped.ts";

const t = translator("shell");

/** Places that take files themselves, and dialogs over the page. */
const others = "[data-takes-files], [role=dialog]";

/** A PDF that is dropped anywhere on the workspace is about to be sent. */
export function DropAnywhere() {
  const navigate = useNavigate();
  const allowed = [useCan("envelope:send"), useCan("template:write")].every(Boolean);
  const [over, setOver] = useState(false);
  const depth = useRef(0);
  useEffect(() => {
    if (!allowed) return;
    const leave = () => {
      depth.current = 0;
      setOver(false);
    };
    const isOurs = (event: DragEvent): boolean => {
      const within = event.target instanceof Element && event.target.closest(others) !== null;
      return !within && document.querySelector("[role=dialog]") === null && isFile(event);
    };
    const entered = (event: DragEvent) => {
      if (!isFile(event)) return;
      depth.current += 1;
      setOver(isOurs(event));
    };
    const left = (event: DragEvent) => {
      if (!isFile(event)) return;
      depth.current -= 1;
      if (depth.current <= 0) leave();
    };
    const dragged = (event: DragEvent) => {
      // Without this the browser would open the file in place of the page.
      if (isOurs(event)) event.preventDefault();
    };
    const dropped = (event: DragEvent) => {
      leave();
      if (event.defaultPrevented || !isOurs(event)) return;
      event.preventDefault();
      const file = event.dataTransfer?.files[0];
      if (!file) return;
      if (file.type !== pdf && !/\.pdf$/i.test(file.name)) {
        notify({ message: t("drop.notPdf", { name: file.name }), tone: "bad" });
        return;
      }
      drop(file);
      void navigate({ to: "/send", search: {} }).then(() => {
        // A question about unsaved work may have kept the person where they were: then nothing is to be sent later.
        if (window.location.pathname !== "/send") takeDropped();
      });
    };
    window.addEventListener("dragenter", entered);
    window.addEventListener("dragleave", left);
    window.addEventListener("dragover", dragged);
    window.addEventListener("drop", dropped);
    return () => {
      window.removeEventListener("dragenter", entered);
      window.removeEventListener("dragleave", left);
      window.removeEventListener("dragover", dragged);
      window.removeEventListener("drop", dropped);
    };
  }, [allowed, navigate]);
  if (!over) return null;
  return (
    <div className="drop-anywhere" aria-hidden="true">
      <p>{t("drop.here")}</p>
    </div>
  );
}

const isFile = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
