# The rules of `cmake --install`: programs into one folder, and beside them units, users, folders,
# documentation, example configs, manual pages and completion.
include(GNUInstallDirs)

# Units are installed below the prefix, because systemd looks into /usr and /usr/local. The path in
# Debian 12's packages is absolute.
set(RACKMESH_UNITDIR lib/systemd/system CACHE STRING "Folder of systemd units")

# Manual pages and completion are made from --help, so the programs have to run on the build
# machine.
find_program(RACKMESH_PYTHON NAMES python3)
if(CMAKE_CROSSCOMPILING OR NOT RACKMESH_PYTHON OR RACKMESH_SANITIZE OR RACKMESH_FUZZ)
	message(STATUS "Without manual pages and completion: they need python3, and a "
		"program that runs here")
	set(made_of_help OFF)
else()
	set(made_of_help ON)
endif()

# rackmesh_install_made(<program> <kind> <file> <destination>): installs a file made from the
# program's --help.
function(rackmesh_install_made name kind file destination)
	set(out ${CMAKE_CURRENT_BINARY_DIR}/${kind}/${file})
	file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${kind})
	add_custom_command(OUTPUT ${out}
		COMMAND ${RACKMESH_PYTHON} ${CMAKE_SOURCE_DIR}/rackmesh/install/of_help.py
			${kind} $<TARGET_FILE:${name}> ${out}
		DEPENDS ${name} ${CMAKE_SOURCE_DIR}/rackmesh/install/of_help.py VERBATIM)
	add_custom_target(${name}_${kind} ALL DEPENDS ${out})
	install(FILES ${out} DESTINATION ${destination})
endfunction()

# rackmesh_install_program(<program> <section of its manual page>)
function(rackmesh_install_program name section)
	install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
	if(made_of_help)
		rackmesh_install_made(${name} man ${name}.${section}
			${CMAKE_INSTALL_MANDIR}/man${section})
		rackmesh_install_made(${name} bash ${name}
			${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
		rackmesh_install_made(${name} zsh _${name}
			${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
	endif()
endfunction()

# rackmesh_install_daemon(<daemon>): installs the daemon, <daemon>.service with the prefix in place
# of /usr, and <daemon>.yaml, both from the folder of its CMakeLists.txt.
function(rackmesh_install_daemon name)
	rackmesh_install_program(${name} 8)
	set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${name}.service)
	file(READ ${name}.service unit)
	string(REPLACE "/usr/bin/" "${CMAKE_INSTALL_FULL_BINDIR}/" unit "${unit}")
	string(REPLACE "/usr/share/doc/rackmesh/" "${CMAKE_INSTALL_FULL_DOCDIR}/" unit "${unit}")
	file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/${name}.service "${unit}")
	install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.service
		DESTINATION ${RACKMESH_UNITDIR})
	install(FILES ${name}.yaml DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
endfunction()

install(FILES rackmesh/install/sysusers.conf DESTINATION lib/sysusers.d RENAME rackmesh.conf)
install(FILES rackmesh/install/tmpfiles.conf DESTINATION lib/tmpfiles.d RENAME rackmesh.conf)
# Only an example, because a host's administrator decides how the host answers ARP.
install(FILES rackmesh/install/sysctl.conf DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples
	RENAME 60-rackmesh-sysctl.conf)
install(FILES docs/alertmanager.yaml DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
install(FILES docs/prometheus/rackmesh-rules.yaml docs/prometheus/prometheus.yaml
	DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
# All pages but architecture.md and where.md, which are about the source.
file(GLOB documents CONFIGURE_DEPENDS docs/*.md)
list(FILTER documents EXCLUDE REGEX "/(architecture|where)\\.md$")
install(FILES README.md ${documents} DESTINATION ${CMAKE_INSTALL_DOCDIR})
