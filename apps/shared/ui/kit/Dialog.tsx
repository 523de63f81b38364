import { Modal, type ModalProps } from "@mantine/core";
import { translator } from "../../i18n.ts";
import { useCovered } from "./useCovered.ts";
import { useFocusBack } from "./useFocusBack.ts";

type Props = Omit<ModalProps, "closeButtonProps" | "returnFocus"> & {
  /** What was asked for is under way: the dialog stays, so that its answer is seen. */
  busy?: boolean;
};

/** A dialog of the pages. It may be mounted open and taken away open. */
export function Dialog({ busy = false, onClose, ...rest }: Props) {
  // Mantine's own return of the focus misses dialogs that are mounted open or taken away open.
  useFocusBack(rest.opened);
  const covered = useCovered(rest.opened);
  return (
    <Modal
      {...rest}
      onClose={() => {
        if (!busy && !covered()) onClose();
      }}
      returnFocus={false}
      closeButtonProps={{ "aria-label": translator("common")("close"), disabled: busy }}
    />
  );
}
