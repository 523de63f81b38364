; The folder of data: whose it is, that it leads nowhere else, and its end. Included by signet-server.nsi.

!macro AbortIfLink PATH
  System::Call 'kernel32::GetFileAttributesW(w "${PATH}") i .r2'
  ${If} $2 <> -1
    IntOp $3 $2 & 0x400
    ${If} $3 <> 0
      SetErrorLevel 1
      Abort "${PATH} is a link to another place: remove it, then install again."
    ${EndIf}
  ${EndIf}
!macroend

; Makes $Data closed from its first moment. One that is there is used when an installer noted that it made it, where only
; administrators write; what anybody else laid there, with settings or a master key of theirs, is not trusted.
Function OwnFolder
  !insertmacro AbortIfLink "$Data"
  ; The service may write here, so it may lay a link: nothing is written through that with an administrator's rights.
  !insertmacro AbortIfLink "$Data\data"
  !insertmacro AbortIfLink "$Data\logs"
  System::Call 'kernel32::GetFileAttributesW(w "$Data") i .r2'
  ${If} $2 <> -1
    ReadRegStr $3 HKLM "${FOLDERS}" "Data"
    ${If} $3 == "$Data"
      Return
    ${EndIf}
    ; The first installers noted nothing. Where such a one is installed it used this folder, and closed it: whoever owned it
    ; before could have opened it again, so it must have been an administrator.
    ReadRegStr $3 HKLM "${UNINSTALL}" "DisplayVersion"
    ${If} $3 != ""
    ${AndIf} ${FileExists} "$INSTDIR\signet-service.exe"
      Call IsAdministrators
      ${If} $3 = 1
        WriteRegStr HKLM "${FOLDERS}" "Data" "$Data"
        Return
      ${EndIf}
    ${EndIf}
    ; It goes when it is empty.
    RMDir "$Data"
    ${If} ${FileExists} "$Data\*.*"
      SetErrorLevel 1
      Abort "$Data is there and was not made by this installer: move it away, then install again. Data of yours is put back after that."
    ${EndIf}
  ${EndIf}
  Push "$Data"
  Call MakeClosed
  WriteRegStr HKLM "${FOLDERS}" "Data" "$Data"
FunctionEnd

; $3 = 1 when $Data belongs to the administrators, the system, or the administrator who installs; nobody else can give them a folder.
Function IsAdministrators
  StrCpy $3 0
  System::Call 'advapi32::GetNamedSecurityInfoW(w "$Data", i 1, i 1, *p .r4, p 0, p 0, p 0, *p .r5) i .r6'
  ${If} $6 <> 0
    Return
  ${EndIf}
  System::Call 'advapi32::IsWellKnownSid(p r4, i 26) i .r6'
  System::Call 'advapi32::IsWellKnownSid(p r4, i 22) i .r7'
  ${If} $6 <> 0
  ${OrIf} $7 <> 0
    StrCpy $3 1
  ${EndIf}
  System::Call 'kernel32::GetCurrentProcess() p .r6'
  System::Call 'advapi32::OpenProcessToken(p r6, i 8, *p .r7) i .r8'
  ${If} $8 <> 0
    System::Alloc 256
    Pop $8
    System::Call 'advapi32::GetTokenInformation(p r7, i 1, p r8, i 256, *i .r9) i .r6'
    ${If} $6 <> 0
      System::Call '*$8(p .r9)'
      System::Call 'advapi32::EqualSid(p r4, p r9) i .r6'
      ${If} $6 <> 0
        StrCpy $3 1
      ${EndIf}
    ${EndIf}
    System::Free $8
    System::Call 'kernel32::CloseHandle(p r7)'
  ${EndIf}
  System::Call 'kernel32::LocalFree(p r5)'
FunctionEnd

; Makes the folder that lies on the stack, for administrators and the system alone from its first moment.
Function MakeClosed
  Pop $9
  System::Call 'advapi32::ConvertStringSecurityDescriptorToSecurityDescriptorW(w "${CLOSED}", i 1, *p .r4, p 0) i .r5'
  ; SECURITY_ATTRIBUTES of 64 bits.
  System::Call '*(i 24, i 0, p r4, i 0, i 0) p .r6'
  ; It fails when somebody was faster.
  System::Call 'kernel32::CreateDirectoryW(w "$9", p r6) i .r7'
  System::Free $6
  ${If} $5 = 0
  ${OrIf} $7 = 0
    SetErrorLevel 1
    Abort "$9 could not be made."
  ${EndIf}
FunctionEnd

; The data is for the service and the administrators alone. The virtual account exists once the service does.
Function CloseData
  CreateDirectory "$Data\data"
  CreateDirectory "$Data\logs"
  nsExec::ExecToLog 'icacls "$Data" /setowner *S-1-5-32-544'
  Pop $0
  nsExec::ExecToLog 'icacls "$Data" /inheritance:r /grant:r "NT SERVICE\Signet:(OI)(CI)M" "*S-1-5-18:(OI)(CI)F" "*S-1-5-32-544:(OI)(CI)F"'
  Pop $0
  ${If} $0 != 0
    StrCpy $Failure "The data folder could not be closed to others."
    Call TakeBack
  ${EndIf}
FunctionEnd

; Deletes the folder that lies on the stack with what is in it. RMDir /r would go through a link, and the service may have laid one:
; a link goes itself, and nothing that it leads to.
Function un.Erase
  Exch $0
  Push $1
  Push $2
  System::Call 'kernel32::GetFileAttributesW(w "$0") i .r1'
  IntOp $2 $1 & 0x400
  ${If} $2 = 0
    FindFirst $1 $2 "$0\*.*"
    ${DoWhile} $2 != ""
      ${If} $2 != "."
      ${AndIf} $2 != ".."
        ${If} ${FileExists} "$0\$2\*.*"
          Push "$0\$2"
          Call un.Erase
        ${Else}
          Delete "$0\$2"
        ${EndIf}
      ${EndIf}
      FindNext $1 $2
    ${Loop}
    FindClose $1
  ${EndIf}
  RMDir "$0"
  Pop $2
  Pop $1
  Pop $0
FunctionEnd
