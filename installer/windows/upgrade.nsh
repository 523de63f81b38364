; The program is laid beside (next\), the service stops, the database is copied (database\), and the parts are exchanged by renaming
; (before\ keeps what was). What does not serve goes, and program and database of before come back. Included by signet-server.nsi.

Var Data
; 1 when there is an installation already, when its service ran, when an installer was cut off before this one.
Var Upgrade
Var Running
Var CutOff
Var Failure

; Files that say how far it came: the new program may have run; what was before is being put back.
!define STARTED "$INSTDIR\before\started"
!define BACK "$INSTDIR\before\back"

!macro EachPart DO
  !insertmacro ${DO} "release"
  !insertmacro ${DO} "signet-service.exe"
  !insertmacro ${DO} "signet-service.xml"
  !insertmacro ${DO} "signet.cmd"
!macroend

!macro PutBack NAME
  ${If} ${FileExists} "$INSTDIR\before\${NAME}"
    ${If} ${FileExists} "$INSTDIR\${NAME}\*.*"
      RMDir /r "$INSTDIR\${NAME}"
    ${Else}
      Delete "$INSTDIR\${NAME}"
    ${EndIf}
    Rename "$INSTDIR\before\${NAME}" "$INSTDIR\${NAME}"
  ${EndIf}
!macroend

!macro Complete NAME
  ${IfNot} ${FileExists} "$INSTDIR\${NAME}"
    Rename "$INSTDIR\next\${NAME}" "$INSTDIR\${NAME}"
  ${EndIf}
!macroend

; Whole or not at all: under another name first, then in the place of what is there.
!macro CopyFile FROM TO
  ${If} ${FileExists} "${FROM}"
    System::Call 'kernel32::CopyFileW(w "${FROM}", w "${TO}.part", i 0) i .r0'
    ${If} $0 <> 0
      ; MOVEFILE_REPLACE_EXISTING, MOVEFILE_WRITE_THROUGH
      System::Call 'kernel32::MoveFileExW(w "${TO}.part", w "${TO}", i 9) i .r0'
    ${EndIf}
    ${If} $0 = 0
      SetErrors
    ${EndIf}
  ${EndIf}
!macroend

!macro CopyDatabase FROM TO
  !insertmacro CopyFile "${FROM}\signet.db" "${TO}\signet.db"
  !insertmacro CopyFile "${FROM}\signet.db-wal" "${TO}\signet.db-wal"
!macroend

!macro Replace NAME
  ${If} ${FileExists} "$INSTDIR\${NAME}"
    Rename "$INSTDIR\${NAME}" "$INSTDIR\before\${NAME}"
  ${EndIf}
!macroend

!macro BringIn NAME
  Rename "$INSTDIR\next\${NAME}" "$INSTDIR\${NAME}"
!macroend

; What an installer left that was ended half-way. Until the new program could have run the one before comes back; after that
; people may have worked with it, and what is there goes on. Only a way back that had begun is gone to its end.
Function FinishCutOff
  StrCpy $CutOff 0
  ${If} ${FileExists} "$INSTDIR\before\*.*"
    StrCpy $CutOff 1
    ; Where the machine was started anew meanwhile, it may run.
    ${If} ${FileExists} "$INSTDIR\signet-service.exe"
      nsExec::ExecToLog '"$INSTDIR\signet-service.exe" stop'
      Pop $0
    ${EndIf}
    ${If} ${FileExists} "${BACK}"
      Call PutAllBack
    ${ElseIfNot} ${FileExists} "${STARTED}"
      ClearErrors
      !insertmacro EachPart PutBack
    ${Else}
      ClearErrors
      !insertmacro EachPart Complete
    ${EndIf}
    ${If} ${Errors}
      SetErrorLevel 1
      Abort "An installation that was cut off could not be ended: install again. Its parts are in $INSTDIR\before, next and database."
    ${EndIf}
  ${EndIf}
  Call Clean
FunctionEnd

; While the old one still serves, so that people wait as short as can be, and a full disk changes nothing.
Function LayBeside
  ClearErrors
  SetOverwrite try
  SetOutPath "$INSTDIR\next"
  File /r "${PAYLOAD}/release"
  File "${PAYLOAD}/signet-service.exe"
  File "signet-service.xml"
  FileOpen $0 "$INSTDIR\next\signet.cmd" w
  FileWrite $0 '@set "SIGNET_DATA_DIR=%ProgramData%\Signet\data"$\r$\n'
  FileWrite $0 '@"%~dp0release\bin\node.exe" "%~dp0release\server\main.ts" %*$\r$\n'
  FileClose $0
  SetOutPath "$INSTDIR"
  ${If} ${Errors}
    RMDir /r "$INSTDIR\next"
    SetErrorLevel 1
    Abort "The program could not be written below $INSTDIR; nothing was changed."
  ${EndIf}
FunctionEnd

; $0 = 1 when the service runs, starts or stops.
Function IsActive
  nsExec::ExecToStack '"$INSTDIR\signet-service.exe" status'
  Pop $0
  Pop $0
  StrCpy $0 $0 8
  ${If} $0 == "Active ("
    StrCpy $0 1
  ${Else}
    StrCpy $0 0
  ${EndIf}
FunctionEnd

; Stops the service and copies its database, or leaves all as it was.
Function StopForUpgrade
  StrCpy $Upgrade 1
  Call IsActive
  StrCpy $Running $0
  ${If} $CutOff = 1
    ; The installer that was cut off had stopped it.
    StrCpy $Running 1
  ${EndIf}
  ${If} $Running = 1
    Push "$INSTDIR\database"
    Call MakeClosed
  ${EndIf}
  nsExec::ExecToLog '"$INSTDIR\signet-service.exe" stop'
  Pop $0
  Call IsActive
  ${If} $0 = 1
    RMDir "$INSTDIR\database"
    RMDir /r "$INSTDIR\next"
    SetErrorLevel 1
    Abort "The service does not stop; nothing was changed."
  ${EndIf}
  ${If} $Running = 1
    ClearErrors
    !insertmacro CopyDatabase "$Data\data" "$INSTDIR\database"
    ${If} ${Errors}
      StrCpy $Failure "The database could not be copied."
      Call TakeBack
    ${EndIf}
  ${EndIf}
FunctionEnd

Function Exchange
  CreateDirectory "$INSTDIR\before"
  ClearErrors
  !insertmacro EachPart Replace
  ${IfNot} ${Errors}
    FileOpen $0 "${STARTED}" w
    FileClose $0
    !insertmacro EachPart BringIn
  ${EndIf}
  ${If} ${Errors}
    StrCpy $Failure "The program could not be replaced."
    Call TakeBack
  ${EndIf}
FunctionEnd

; Waits until the new program answers its administrators. One that ends before that has failed; bringing a large database up to
; date takes its time.
Function StartUpgraded
  nsExec::ExecToLog '"$INSTDIR\signet-service.exe" start'
  Pop $0
  System::Call 'kernel32::SetEnvironmentVariableW(w "SIGNET_DATA_DIR", w "$Data\data")'
  StrCpy $1 0
  ${Do}
    nsExec::ExecToStack '"$INSTDIR\release\bin\node.exe" "$INSTDIR\release\server\main.ts" status'
    Pop $0
    Pop $2
    ${If} $0 = 0
      Return
    ${EndIf}
    Call IsActive
    IntOp $1 $1 + 1
    ${If} $0 = 0
    ${OrIf} $1 > 900
      ${ExitDo}
    ${EndIf}
    Sleep 1000
  ${Loop}
  StrCpy $Failure "Version ${VERSION} does not start."
  Call TakeBack
FunctionEnd

; Ends the installation with $Failure, and with program and database of before.
Function TakeBack
  SetErrorLevel 1
  ${If} $Upgrade = 0
    Abort $Failure
  ${EndIf}
  nsExec::ExecToLog '"$INSTDIR\signet-service.exe" stop'
  Pop $0
  CreateDirectory "$INSTDIR\before"
  FileOpen $0 "${BACK}" w
  FileClose $0
  Call PutAllBack
  ${If} ${Errors}
    Abort "$Failure Not all of what was before could be put back: install again. Its program is in $INSTDIR\before, its database in $INSTDIR\database."
  ${EndIf}
  nsExec::ExecToLog '"$INSTDIR\signet-service.exe" refresh'
  Pop $0
  ${If} $Running = 1
    nsExec::ExecToLog '"$INSTDIR\signet-service.exe" start'
    Pop $0
  ${EndIf}
  Call Clean
  Abort "$Failure The version of before and its data are back."
FunctionEnd

Function PutAllBack
  ClearErrors
  ${If} ${FileExists} "${STARTED}"
  ${AndIf} ${FileExists} "$INSTDIR\database\signet.db"
    ; A log that is left would be replayed into the file that takes its place.
    Delete "$Data\data\signet.db-wal"
    Delete "$Data\data\signet.db-shm"
    !insertmacro CopyDatabase "$INSTDIR\database" "$Data\data"
  ${EndIf}
  !insertmacro EachPart PutBack
  ${IfNot} ${Errors}
    Delete "${STARTED}"
    Delete "${BACK}"
  ${EndIf}
FunctionEnd

Function Clean
  RMDir /r "$INSTDIR\database"
  RMDir /r "$INSTDIR\before"
  RMDir /r "$INSTDIR\next"
FunctionEnd
